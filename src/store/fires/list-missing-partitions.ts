import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * This month, the next one and the months of `instants`, if the ledger cannot take rows for them. The state says why:
 * `none` means that there is no partition, `detached` or `detaching` that the month is being dropped.
 *
 * It reads pg_class, because the answer of `to_regclass` may be older than the lock that was just waited for. Months
 * that a person detached in order to keep them are not listed.
 * Locks: none.
 * Index: pg_class (relname, relnamespace), pg_inherits (inhrelid).
 */
export const listMissingMonths = statement({
  name: "fires/list-missing-partitions",
  params: { schema: text, instants: list(instant) },
  returns: { month: instant, following: instant, name: text, state: text },
  sql: `
  select distinct month at time zone 'UTC' as month, (month + interval '1 month') at time zone 'UTC' as following, name,
    coalesce(there.state, 'none') as state
  from (
    select date_trunc('month', at at time zone 'UTC') as month
    from unnest(@instants || {now} || ({now} + interval '1 month')) as wanted (at)
  ) as months
  cross join lateral (select 'fires_' || to_char(month, 'YYYYMM') as name) as named
  left join lateral (
    select case
        when inhdetachpending then 'detaching'
        when inhrelid is not null then 'attached'
        when pg_catalog.obj_description(relation.oid, 'pg_class') = 'carillon: expired' then 'detached'
        else 'kept'
      end as state
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    left join pg_catalog.pg_inherits on inhrelid = relation.oid
    where namespace.nspname = @schema and relation.relname = name
  ) as there on true
  where coalesce(there.state, 'none') in ('none', 'detached', 'detaching')
  order by 1
`,
})
