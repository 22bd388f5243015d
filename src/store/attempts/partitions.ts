/**
 * Makes the daily partitions of history: a week ahead for every class, and on demand when a row finds none.
 *
 * How: a partition is created beside its parent and then attached, because `create table ... partition of` would lock
 * the parent against every settle while it waits for one open reader. The new table has the indexes of its parent,
 * which the attach takes over instead of building its own, and a check constraint that spares the attach a scan. There
 * is no default partition: every attach would have to scan it.
 * Roles: a function of the owner (`make_day`) does it, so any role may call it. The function waits for locks for five
 * seconds. That is longer than the completion of an interrupted detach, which holds the same lock, may wait for other
 * transactions.
 */
import type { Database, Transaction } from "../database.ts"
import { listMissingPartitions } from "./list-missing-partitions.ts"
import { lockPartitions } from "./lock-partitions.ts"
import { makeDays } from "./make-days.ts"

const DAYS_AHEAD = 7

/** Makes the missing partitions of today and the coming days. Returns the names of the new ones. */
export async function makePartitions(database: Database, daysAhead: number = DAYS_AHEAD): Promise<string[]> {
  const missing = await database.run(listMissingPartitions, { schema: database.schema, daysAhead })
  return missing.length === 0 ? [] : makePartitionsInTurn(database, daysAhead)
}

/**
 * For a writer that has just found no partition. It waits for the lock even if nothing seems to be missing: the catalog
 * shows a partition a moment before rows can be routed to it, and the process that makes it holds the lock until they
 * can.
 */
export function makePartitionsInTurn(database: Database, daysAhead: number): Promise<string[]> {
  return database.transaction((tx) => makeInTurn(tx, database.schema, daysAhead))
}

/**
 * Makes in `tx` the missing partitions of today and tomorrow, for a transaction that is about to write history. A
 * missing partition would make the user's own work in that transaction fail, and Carillon cannot repeat that work.
 */
export async function makePartitionsIn(tx: Transaction, schema: string): Promise<void> {
  const missing = await tx.run(listMissingPartitions, { schema, daysAhead: 1 })
  if (missing.length > 0) await makeInTurn(tx, schema, 1)
}

async function makeInTurn(tx: Transaction, schema: string, daysAhead: number): Promise<string[]> {
  // Two processes may see the same gap. The second finds it closed when it gets the lock.
  await tx.run(lockPartitions, { name: `carillon:partitions:${schema}` })
  const missing = await tx.run(listMissingPartitions, { schema, daysAhead })
  if (missing.length === 0) return []
  const made = await tx.run(makeDays, {
    histories: missing.map(({ history }) => history),
    days: missing.map(({ day }) => day),
  })
  return made.map(({ name }) => name)
}

/**
 * Gives a partition that an import brings a replica identity, for databases with a publication of all tables. History
 * has no key, and the setting is not copied from the parent. It costs nothing, because rows of history are neither
 * updated nor deleted.
 */
export function identify(partition: string): string {
  return `alter table ${partition} replica identity full;`
}
