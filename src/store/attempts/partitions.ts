/**
 * The daily partitions of history: made a week ahead for every class, and on demand when a row finds none.
 *
 * A partition is made beside its parent and then attached: `create table ... partition of` would lock the
 * parent against every settle while it waits for one open reader. It is made with the indexes of its parent, which
 * the attach then takes over instead of building its own, and with a check that spares the attach a look at the rows.
 * There is no default partition: it would have to be scanned at every attach.
 *
 * A function of the owner does it (0010_roles.sql), for roles that own nothing. It waits for locks for five seconds:
 * longer than the completion of an interrupted detach may wait for others, which holds the same lock meanwhile.
 */
import type { Database, Transaction } from "../database.ts"
import { listMissingPartitions } from "./list-missing-partitions.ts"
import { lockPartitions } from "./lock-partitions.ts"
import { makeDays } from "./make-days.ts"

const DAYS_AHEAD = 7

/** Makes what is missing of today's and the coming days' partitions. Returns the names of those it made. */
export async function makePartitions(database: Database, daysAhead: number = DAYS_AHEAD): Promise<string[]> {
  const missing = await database.run(listMissingPartitions, { schema: database.schema, daysAhead })
  return missing.length === 0 ? [] : makePartitionsInTurn(database, daysAhead)
}

/**
 * For whoever has just found none for what it writes. It waits for its turn even if nothing seems to be missing: a
 * partition can be seen in the catalog a moment before rows find their way to it, but whoever made it does not pass the
 * turn on until they do.
 */
export function makePartitionsInTurn(database: Database, daysAhead: number): Promise<string[]> {
  return database.transaction((tx) => makeInTurn(tx, database.schema, daysAhead))
}

/**
 * Makes in `tx` what is missing of today's and tomorrow's partitions, for a transaction that is about to write history
 * and must not fail because of that: a caller's own work is in it, which cannot be done again.
 */
export async function makePartitionsIn(tx: Transaction, schema: string): Promise<void> {
  const missing = await tx.run(listMissingPartitions, { schema, daysAhead: 1 })
  if (missing.length > 0) await makeInTurn(tx, schema, 1)
}

async function makeInTurn(tx: Transaction, schema: string, daysAhead: number): Promise<string[]> {
  // Two processes may see the same gap; the second finds it closed when its turn comes.
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
 * Makes a partition that an import brings one that a publication for all tables may hold: history has no key, and this is
 * not copied from the parent. It costs nothing, because rows of history are neither changed nor deleted.
 */
export function identify(partition: string): string {
  return `alter table ${partition} replica identity full;`
}
