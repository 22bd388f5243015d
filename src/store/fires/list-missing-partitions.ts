import { instant, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The months among those of `instants`, this one and the next, that rows of the ledger cannot be written to, and why:
 * `none`: there is no partition; `detached` or `detaching`: it is on its way out, because its time was over.
 *
 * Asks pg_class and not `to_regclass`, whose answer may be older than the lock that was just waited for. What somebody
 * else detached in order to keep it is not listed: it is theirs.
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
