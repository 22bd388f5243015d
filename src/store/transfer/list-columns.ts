import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The columns of every table of the schema that is not a partition, in order, with their types.
 *
 * Dropped and generated columns are left out, because they cannot be written.
 * Locks: none.
 */
export const listColumns = statement({
  name: "transfer/list-columns",
  params: { schema: text },
  returns: { table: text, column: text, type: text },
  sql: `
  select relname::text as "table", attname::text as "column",
    pg_catalog.format_type(atttypid, atttypmod) as type
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
  join pg_catalog.pg_attribute as attribute on attribute.attrelid = relation.oid
  where nspname = @schema and relkind in ('r', 'p') and not relispartition
    and attnum > 0 and not attisdropped and attgenerated = ''
  order by relname, attnum
`,
})
