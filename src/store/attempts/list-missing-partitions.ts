import { instant, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The days from today, in UTC, that have no partition yet, for every class of history.
 *
 * Guarantee: it sees what other transactions have committed. It finds partitions by name in the catalog itself:
 * to_regclass answers from a cache that may miss partitions made while this session waited for the lock.
 * Locks: none.
 * Index: pg_class (relname, relnamespace).
 */
export const listMissingPartitions = statement({
  name: "attempts/list-missing-partitions",
  params: { schema: text, daysAhead: int },
  returns: { history: text, day: instant, name: text },
  sql: `
  select history, day, name
  from (
    select history, day, prefix || to_char(day at time zone 'UTC', 'YYYYMMDD') as name
    from (
      select (date_trunc('day', {now} at time zone 'UTC') + n * interval '1 day') at time zone 'UTC' as day
      from generate_series(0, @daysAhead) as n
    ) as days
    cross join (
      values ('short', 'attempts_short_'), ('standard', 'attempts_'), ('long', 'attempts_long_')
    ) as class (history, prefix)
  ) as wanted
  where not exists (
    select
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    where namespace.nspname = @schema and relation.relname = name
  )
  order by day, name
`,
})
