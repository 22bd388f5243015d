import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Whether this role may vacuum the live runs: their owner may, and from PostgreSQL 17 on a role that may maintain them.
 * Without it the server would refuse with a warning in its log, each time.
 *
 * Locks: none. Index: pg_class (relname, relnamespace).
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
