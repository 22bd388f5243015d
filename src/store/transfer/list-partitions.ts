import { instant, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The leaf partitions with their parents and ranges. The range is null if it has another shape.
 *
 * Guarantee: exactly the partitions whose rows the same snapshot finds through the parent. A caller that has locked the
 * parent before can rely on them staying: a detach waits for that lock, and a detach in progress hides the partition
 * from both.
 * Locks: none.
 */
export const listPartitions = statement({
  name: "transfer/list-partitions",
  params: { schema: text },
  returns: { parent: text, name: text, from: nullable(instant), to: nullable(instant) },
  sql: `
  select parent, name,
    substring(bound from '^FOR VALUES FROM \\(''([^'']+)''\\)')::timestamptz as "from",
    substring(bound from 'TO \\(''([^'']+)''\\)$')::timestamptz as "to"
  from (
    select parent.relname::text as parent, relation.relname::text as name,
      pg_catalog.pg_get_expr(relation.relpartbound, relation.oid) as bound
    from pg_catalog.pg_class as relation
    join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
    join pg_catalog.pg_inherits on inhrelid = relation.oid and not inhdetachpending
    join pg_catalog.pg_class as parent on parent.oid = inhparent
    where nspname = @schema and relation.relkind = 'r' and relation.relispartition
  ) as partition
  order by parent, name
`,
})
