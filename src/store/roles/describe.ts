import { boolean, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Who asks, who owns the schema (null: there is none), whether the role that asks may migrate it, and the version of the
 * server, as in 180000.
 *
 * A schema is migrated by who owns its tables. One without tables may be by who can make some in it, and one that is not
 * there by who can make schemas in the database.
 * Locks: none. Index: pg_class (relname, relnamespace), pg_namespace (nspname).
 */
export const describeRole = statement({
  name: "roles/describe",
  params: { schema: text },
  returns: { role: text, owner: nullable(text), may_migrate: boolean, server_version: int },
  sql: `
  select current_user::text as role,
    pg_catalog.pg_get_userbyid(coalesce(ledger.relowner, namespace.nspowner))::text as owner,
    case
      when ledger.relowner is not null then pg_catalog.pg_has_role(ledger.relowner, 'usage')
      when namespace.oid is not null then pg_catalog.has_schema_privilege(namespace.oid, 'create')
      else pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create')
    end as may_migrate,
    pg_catalog.current_setting('server_version_num')::int as server_version
  from (select @schema as name) as asked
  left join pg_catalog.pg_namespace as namespace on namespace.nspname = asked.name
  left join pg_catalog.pg_class as ledger on ledger.relnamespace = namespace.oid and ledger.relname = 'migrations'
`,
})
