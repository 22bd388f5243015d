/**
 * Makes the monthly partitions of the ledger of occurrences: this month and the next, and other months on demand,
 * because a missed occurrence may be years old.
 *
 * How: created beside the parent and then attached, for the same reasons as with history. A month that is being dropped
 * (fires/retention) is attached again when it is needed for writing. A function of the owner (`make_month`) does both.
 */
import { DatabaseError } from "../../errors.ts"
import type { InstantMs } from "../../time/instant.ts"
import { lockPartitions } from "../attempts/lock-partitions.ts"
import type { Database, Transaction } from "../database.ts"
import { listMissingMonths } from "./list-missing-partitions.ts"
import { makeMonths } from "./make-months.ts"

export interface Month {
  readonly name: string
  readonly month: InstantMs
  readonly following: InstantMs
  /** `none`, `detached`, `detaching` or `attached`. */
  readonly state: string
}

/** Makes the missing partitions of this month and the next. Returns the names of the new ones. */
export async function makeFirePartitions(database: Database): Promise<string[]> {
  const missing = await database.run(listMissingMonths, { schema: database.schema, instants: [] })
  return missing.length === 0 ? [] : makeFirePartitionsInTurn(database, [])
}

/**
 * For a writer that has just found no partition for these instants. It waits for the lock even if nothing seems to be
 * missing: the catalog shows a partition a moment before rows can be routed to it, and the process that makes it holds
 * the lock until they can. Otherwise a schedule would be set aside for a month that is about to exist.
 */
export function makeFirePartitionsInTurn(
  database: Database,
  instants: readonly InstantMs[],
): Promise<string[]> {
  return database.transaction(async (tx) => {
    // Two processes may see the same gap. The second finds it closed when it gets the lock.
    await lockMonths(tx, database.schema)
    const missing = await tx.run(listMissingMonths, {
      schema: database.schema,
      instants: [...new Set(instants)],
    })
    if (missing.length === 0) return []
    const made = await tx.run(makeMonths, { months: missing.map(({ month }) => month) })
    return made.map(({ name }) => name)
  })
}

/** The holder of this lock makes, attaches or drops months, alone, until the end of the transaction. */
export async function lockMonths(tx: Transaction, schema: string): Promise<void> {
  await tx.run(lockPartitions, { name: `carillon:partitions:${schema}` })
}

/**
 * Did a row of the ledger find no partition? A violated check constraint has the same code, but the error names the
 * constraint.
 */
export function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  return ((error.cause ?? {}) as { constraint?: string }).constraint === undefined
}
