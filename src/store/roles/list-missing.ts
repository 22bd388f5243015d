import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Which of these privileges the role of this connection lacks. A missing object is not reported here; another check
 * reports it.
 *
 * It looks up the catalog by name, so it also answers a role that may not use the schema.
 * Locks: none.
 * Index: pg_class and pg_proc by name and namespace.
 */
export const listMissingPrivileges = statement({
  name: "roles/list-missing",
  params: { schema: text, kinds: list(text), names: list(text), privileges: list(text) },
  returns: { kind: text, name: text, privilege: text },
  sql: `
  select kind, name, privilege
  from unnest(@kinds, @names, @privileges) with ordinality as wanted (kind, name, privilege, place)
  join pg_catalog.pg_namespace as namespace on namespace.nspname = @schema
  where case kind
    when 'schema' then pg_catalog.has_schema_privilege(namespace.oid, privilege)
    when 'table' then (
      select pg_catalog.has_table_privilege(relation.oid, privilege)
      from pg_catalog.pg_class as relation
      where relation.relnamespace = namespace.oid and relation.relname = name
    )
    else (
      select pg_catalog.bool_and(pg_catalog.has_function_privilege(called.oid, privilege))
      from pg_catalog.pg_proc as called
      where called.pronamespace = namespace.oid and called.proname = name
    )
  end is false
  order by place
`,
})
