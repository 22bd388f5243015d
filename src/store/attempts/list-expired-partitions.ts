import { boolean, double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The expired days of history, oldest first, with the state of each: `attached`, `detaching` (an interrupted detach),
 * or `detached` (by Carillon, not dropped yet). `owned`: this role may do with the partition what its owner may.
 *
 * Guarantee: the end of its range decides, so no listed partition holds a row that is younger than its class is kept.
 * Partitions that a person detached or renamed are not listed.
 * Locks: none.
 * Index: pg_class (relname, relnamespace), pg_inherits (inhparent).
 */
export const listExpiredPartitions = statement({
  name: "attempts/list-expired-partitions",
  params: { schema: text, shortMs: double, standardMs: double, longMs: double, limit: int },
  returns: { name: text, history: text, state: text, owned: boolean },
  sql: `
  with day as (
    select relation.oid, relname::text as name, relispartition, pg_catalog.pg_has_role(relowner, 'USAGE') as owned,
      case
        when relname like 'attempts\\_short\\_%' then 'short'
        when relname like 'attempts\\_long\\_%' then 'long'
        else 'standard'
      end as history,
      substring(pg_catalog.pg_get_expr(relpartbound, relation.oid) from 'TO \\(''([^'']+)''\\)')::timestamptz as ends_at
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    where nspname = @schema and relkind = 'r' and relname ~ '^attempts_((short|long)_)?[0-9]+$'
  ),
  attached as (
    select name, history, owned, case when inhdetachpending then 'detaching' else 'attached' end as state
    from day
    join pg_catalog.pg_inherits on inhrelid = oid
    where ends_at <= {now} - interval '1 millisecond' * case history
      when 'short' then @shortMs
      when 'long' then @longMs
      else @standardMs
    end
  ),
  detached as (
    select name, history, owned, 'detached' as state
    from day
    where not relispartition and pg_catalog.obj_description(oid, 'pg_class') = 'carillon: expired'
  )
  select name, history, state, owned
  from (select * from attached union all select * from detached) as expired
  order by state = 'attached', right(name, 8), name
  limit @limit
`,
})
