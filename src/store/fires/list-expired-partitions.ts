import { boolean, double, instant, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The months of the ledger that ended longer ago than it is kept, oldest first, with the state of each: `attached`,
 * `detaching` (an interrupted detach), or `detached` (by Carillon, not dropped yet). A month may hold rows that were
 * written later, for which see fires/is-needed. `owned`: this role may do with it what its owner may.
 *
 * Guarantee: the end of its range decides. Months that a person detached or renamed are not listed.
 * Locks: none.
 * Index: pg_class (relname, relnamespace), pg_inherits (inhrelid).
 */
export const listExpiredMonths = statement({
  name: "fires/list-expired-partitions",
  params: { schema: text, keepMs: double },
  returns: { name: text, state: text, month: instant, following: instant, owned: boolean },
  sql: `
  with month as (
    select relation.oid, relname::text as name, pg_catalog.pg_has_role(relowner, 'USAGE') as owned,
      (substring(relname from 7) || '01')::timestamp as month,
      substring(pg_catalog.pg_get_expr(relpartbound, relation.oid) from 'TO \\(''([^'']+)''\\)')::timestamptz as ends_at
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    where nspname = @schema and relkind = 'r' and relname ~ '^fires_[1-9][0-9][0-9][0-9](0[1-9]|1[0-2])$'
  ),
  leaving as (
    select name, month, owned,
      case when inhdetachpending then 'detaching' when inhrelid is not null then 'attached' else 'detached' end as state
    from month
    left join pg_catalog.pg_inherits on inhrelid = oid
    where case
      when inhrelid is null then pg_catalog.obj_description(oid, 'pg_class') = 'carillon: expired'
      else ends_at <= {now} - interval '1 millisecond' * @keepMs
    end
  )
  select name, state, month at time zone 'UTC' as month, (month + interval '1 month') at time zone 'UTC' as following,
    owned
  from leaving
  order by state = 'attached', month
`,
})
