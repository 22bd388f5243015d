/**
 * Does for PGlite what background processes do in a server: checkpoints and vacuums.
 *
 * PGlite has no other process. Without this it would keep all WAL until it is closed, replay all of it after a crash,
 * and never reuse the space of deleted rows. After a number of calls it checks what is due.
 */
import type { Database } from "../database.ts"
import type { PGlite } from "../pglite.ts"
import { quoteIdentifier } from "../statement.ts"
import { overdueUpkeep } from "./overdue.ts"

export interface Housekeeping {
  /** Reports a call. */
  readonly called: () => void
  /** Waits for the work in progress. */
  readonly settled: () => Promise<void>
}

/** A check takes less than a millisecond. A call that writes makes a few kilobytes of WAL. */
const CALLS_BETWEEN_LOOKS = 500
/** A crash replays this much in about a second. */
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
      // What failed is still due at the next check. If the disk is full, the calls themselves fail and report it.
      underWay = tidy()
        .catch(() => {})
        .finally(() => {
          underWay = undefined
        })
    },
    settled: async () => underWay,
  }
}
