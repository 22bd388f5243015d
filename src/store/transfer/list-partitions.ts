import { instant, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The partitions that hold rows themselves, with their parents and the range of each; null where it has another shape.
 *
 * Guarantee: those, and only those, whose rows the same snapshot finds through the parent. Whoever has locked the parent
 * first can be sure that none leaves: a detach waits for that lock, and one that has begun is not seen in either way.
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
