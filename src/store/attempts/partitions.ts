/**
 * The daily partitions of history: made a week ahead, and on demand when a row finds none.
 *
 * A partition is made beside its parent and then attached: `create table ... partition of` would lock the
 * parent against every settle while it waits for one open reader. There is no default partition: it would
 * have to be scanned at every attach.
 */

import { formatInstant } from "../../time/instant.ts"
import { instant, int, text } from "../codec.ts"
import type { Database } from "../database.ts"
import { statement } from "../statement.ts"

const DAYS_AHEAD = 7
const LOCK_TIMEOUT_MS = 2_000
const DAY_MS = 86_400_000

/** Makes what is missing of today's and the coming days' partitions. Returns the names of those it made. */
export async function makePartitions(database: Database): Promise<string[]> {
  const missing = await database.run(listMissingPartitions, {
    schema: database.schema,
    daysAhead: DAYS_AHEAD,
  })
  const made: string[] = []
  for (const { day, name } of missing) if (await makePartition(database, name, day)) made.push(name)
  return made
}

/** Whether it was still missing. */
async function makePartition(database: Database, name: string, dayMs: number): Promise<boolean> {
  const [from, to] = [dayMs, dayMs + DAY_MS].map((ms) => `'${formatInstant(ms)}'`)
  return database.transaction(async (tx) => {
    // Two processes may see the same gap; the second finds the partition when its turn comes.
    await tx.run(lockPartitions, { name: `carillon:partitions:${database.schema}` })
    const missing = await tx.run(listMissingPartitions, { schema: database.schema, daysAhead: DAYS_AHEAD })
    if (!missing.some((partition) => partition.name === name)) return false
    await tx.script(`
      set local lock_timeout = ${LOCK_TIMEOUT_MS};
      create table {${name}} (like {attempts} including all);
      alter table {${name}} add constraint within_day check (finished_at >= ${from} and finished_at < ${to});
      alter table {attempts} attach partition {${name}} for values from (${from}) to (${to});
      alter table {${name}} drop constraint within_day;
    `)
    return true
  })
}

/**
 * The days from today, in UTC, that have no partition yet. Partitions are found by their names, in the catalog itself:
 * to_regclass answers from a cache that does not hear of what others made while we waited for the lock.
 */
export const listMissingPartitions = statement({
  name: "attempts/list-missing-partitions",
  params: { schema: text, daysAhead: int },
  returns: { day: instant, name: text },
  sql: `
  select day, name
  from (
    select day, 'attempts_' || to_char(day at time zone 'UTC', 'YYYYMMDD') as name
    from (
      select (date_trunc('day', {now} at time zone 'UTC') + n * interval '1 day') at time zone 'UTC' as day
      from generate_series(0, @daysAhead) as n
    ) as days
  ) as wanted
  where not exists (
    select
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    where namespace.nspname = @schema and relation.relname = name
  )
  order by day
`,
})

/** Serialises the makers of partitions until the end of the transaction. */
export const lockPartitions = statement({
  name: "attempts/lock-partitions",
  params: { name: text },
  returns: { pg_advisory_xact_lock: text },
  sql: `select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(@name, 0))::text as pg_advisory_xact_lock`,
})
