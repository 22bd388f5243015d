import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * May this role vacuum the live runs? Their owner may, and from PostgreSQL 17 on also a role with the MAINTAIN
 * privilege. The engine asks first, because a vacuum without the privilege writes a warning to the server's log each
 * time.
 *
 * Locks: none.
 * Index: pg_class (relname, relnamespace).
 */
export const mayVacuumRuns = statement({
  name: "runs/may-vacuum",
  params: { schema: text },
  returns: { may: boolean },
  sql: `
  select case
      when pg_catalog.pg_has_role(relowner, 'usage') then true
      when pg_catalog.current_setting('server_version_num')::int < 170000 then false
      else pg_catalog.has_table_privilege(relation.oid, 'maintain')
    end as may
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
  where namespace.nspname = @schema and relation.relname = 'runs'
`,
})
