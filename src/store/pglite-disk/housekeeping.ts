/**
 * Does for PGlite what background processes do in a server: checkpoints and vacuums.
 *
 * PGlite has no other process. Left alone it keeps all WAL until it is closed, reads all of it again after a crash, and
 * never reuses the place of a deleted row. It is looked after while it is used: so many calls, then a look.
 */
import type { Database } from "../database.ts"
import type { PGlite } from "../pglite.ts"
import { quoteIdentifier } from "../statement.ts"
import { overdueUpkeep } from "./overdue.ts"

export interface Housekeeping {
  /** A call was made. */
  readonly called: () => void
  /** Waits for what is under way. */
  readonly settled: () => Promise<void>
}

/** A look takes less than a millisecond; a call that writes makes some kilobytes of WAL. */
const CALLS_BETWEEN_LOOKS = 500
/** Read again in about a second after a crash. */
const MOST_WAL_BYTES = 64n * 1_048_576n

export function createHousekeeping(database: Database, pglite: PGlite): Housekeeping {
  let calls = 0
  let underWay: Promise<void> | undefined

  async function tidy(): Promise<void> {
    const { schema } = database
    const [overdue] = await database.run(overdueUpkeep, { of: schema })
    if (overdue === undefined) return
    for (const table of JSON.parse(overdue.tables) as string[]) {
      await pglite.exec(`vacuum (analyze) ${quoteIdentifier(schema)}.${quoteIdentifier(table)}`)
    }
    if (overdue.wal_bytes > MOST_WAL_BYTES) await pglite.exec("checkpoint")
  }

  return {
    called: () => {
      calls += 1
      if (calls < CALLS_BETWEEN_LOOKS || underWay !== undefined) return
      calls = 0
      // What could not be done is still due at the next look; a disk that is full fails everybody's calls.
      underWay = tidy()
        .catch(() => {})
        .finally(() => {
          underWay = undefined
        })
    },
    settled: async () => underWay,
  }
}
