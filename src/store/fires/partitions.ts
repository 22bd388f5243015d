/**
 * The monthly partitions of the ledger of occurrences: this month's and the next one's, and others on demand, because an
 * occurrence that is made up for may be years old.
 *
 * Made beside the parent and then attached, as those of history are, and for the same reasons. One that was on its way
 * out (fires/retention) is attached again when somebody has something to write in it. A function of the owner does both (0010_roles.sql).
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

/** Makes what is missing of this month's and the next one's partitions. Returns the names of those it made. */
export async function makeFirePartitions(database: Database): Promise<string[]> {
  const missing = await database.run(listMissingMonths, { schema: database.schema, instants: [] })
  return missing.length === 0 ? [] : makeFirePartitionsInTurn(database, [])
}

/**
 * For whoever has just found none for these instants, too. It waits for its turn even if nothing seems to be missing: a
 * partition can be seen in the catalog a moment before rows find their way to it, but whoever made it does not pass the
 * turn on until they do. Without that a schedule would be set aside for what is about to be there.
 */
export function makeFirePartitionsInTurn(
  database: Database,
  instants: readonly InstantMs[],
): Promise<string[]> {
  return database.transaction(async (tx) => {
    // Two processes may see the same gap; the second finds it closed when its turn comes.
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

/** Whoever holds this alone makes months, attaches or drops them, until the end of the transaction. */
export async function lockMonths(tx: Transaction, schema: string): Promise<void> {
  await tx.run(lockPartitions, { name: `carillon:partitions:${schema}` })
}

/** Whether a row of the ledger found no partition. A violated check has the same code, but names its constraint. */
export function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  return ((error.cause ?? {}) as { constraint?: string }).constraint === undefined
}
