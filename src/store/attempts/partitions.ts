/**
 * The daily partitions of history: made a week ahead for every class, and on demand when a row finds none.
 *
 * A partition is made beside its parent and then attached: `create table ... partition of` would lock the
 * parent against every settle while it waits for one open reader. It is made with the indexes of its parent, which
 * the attach then takes over instead of building its own, and with a check that spares the attach a look at the rows.
 * There is no default partition: it would have to be scanned at every attach.
 */
import { formatInstant } from "../../time/instant.ts"
import type { Database, Transaction } from "../database.ts"
import { HISTORY_CLASSES, type HistoryClass } from "./history-classes.ts"
import { listMissingPartitions } from "./list-missing-partitions.ts"
import { lockPartitions } from "./lock-partitions.ts"

const DAYS_AHEAD = 7
/** Longer than the completion of an interrupted detach may wait for others, which holds the same lock meanwhile. */
const LOCK_TIMEOUT_MS = 5_000
const DAY_MS = 86_400_000

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
  const steps = missing.map(({ history, name, day }) => makePartition(history as HistoryClass, name, day))
  await tx.script([`set local lock_timeout = ${LOCK_TIMEOUT_MS};`, ...steps].join("\n"))
  return missing.map(({ name }) => name)
}

function makePartition(history: HistoryClass, name: string, dayMs: number): string {
  const { table } = HISTORY_CLASSES[history]
  const [from, to] = [dayMs, dayMs + DAY_MS].map((ms) => `'${formatInstant(ms)}'`)
  return `
    create table {${name}} (like {${table}} including all);
    ${identify(`{${name}}`)}
    alter table {${name}} add constraint within_day
      check (history = '${history}' and finished_at >= ${from} and finished_at < ${to});
    alter table {${table}} attach partition {${name}} for values from (${from}) to (${to});
    alter table {${name}} drop constraint within_day;
  `
}

/**
 * Makes a partition one that a publication for all tables may hold: history has no key, and this is not copied from the
 * parent. It costs nothing, because rows of history are neither changed nor deleted.
 */
export function identify(partition: string): string {
  return `alter table ${partition} replica identity full;`
}
