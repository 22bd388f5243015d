/**
 * The monthly partitions of the ledger of occurrences: this month's and the next one's, and others on demand, because an
 * occurrence that is made up for may be years old.
 *
 * Made beside the parent and then attached, as those of history are, and for the same reasons.
 */
import { DatabaseError } from "../../errors.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { lockPartitions } from "../attempts/lock-partitions.ts"
import type { Database } from "../database.ts"
import { listMissingMonths } from "./list-missing-partitions.ts"

const LOCK_TIMEOUT_MS = 5_000

/** Makes what is missing for these instants. Returns the names of those it made. */
export async function makeFirePartitions(
  database: Database,
  instants: readonly InstantMs[] = [],
): Promise<string[]> {
  const wanted = { schema: database.schema, instants: [...new Set(instants)] }
  if ((await database.run(listMissingMonths, wanted)).length === 0) return []
  return database.transaction(async (tx) => {
    // Two processes may see the same gap; the second finds it closed when its turn comes.
    await tx.run(lockPartitions, { name: `carillon:partitions:${database.schema}` })
    const missing = await tx.run(listMissingMonths, wanted)
    const steps = missing.map(({ name, month, following }) => makePartition(name, month, following))
    await tx.script([`set local lock_timeout = ${LOCK_TIMEOUT_MS};`, ...steps].join("\n"))
    return missing.map(({ name }) => name)
  })
}

function makePartition(name: string, month: InstantMs, following: InstantMs): string {
  const [from, to] = [month, following].map((ms) => `'${formatInstant(ms)}'`)
  return `
    create table {${name}} (like {fires} including all);
    alter table {${name}} add constraint within_month check (occurrence >= ${from} and occurrence < ${to});
    alter table {fires} attach partition {${name}} for values from (${from}) to (${to});
    alter table {${name}} drop constraint within_month;
  `
}

/** Whether a row of the ledger found no partition. A violated check has the same code, but names its constraint. */
export function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  return ((error.cause ?? {}) as { constraint?: string }).constraint === undefined
}
