import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The months among those of `instants`, this one and the next, for which the ledger of occurrences has no partition.
 *
 * Asks pg_class and not `to_regclass`, whose answer may be older than the lock that was just waited for.
 */
export const listMissingMonths = statement({
  name: "fires/list-missing-partitions",
  params: { schema: text, instants: list(instant) },
  returns: { month: instant, following: instant, name: text },
  sql: `
  select distinct month at time zone 'UTC' as month, (month + interval '1 month') at time zone 'UTC' as following, name
  from (
    select date_trunc('month', at at time zone 'UTC') as month
    from unnest(@instants || {now} || ({now} + interval '1 month')) as wanted (at)
  ) as months
  cross join lateral (select 'fires_' || to_char(month, 'YYYYMM') as name) as named
  where not exists (
    select
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    where namespace.nspname = @schema and relation.relname = name
  )
  order by 1
`,
})
