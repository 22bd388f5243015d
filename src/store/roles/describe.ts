import { boolean, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The role of this connection, the owner of the schema (null if there is none), whether the role may migrate the
 * schema, and the version of the server, as in 180000.
 *
 * The owner of its tables may migrate a schema. A schema without tables may be migrated by a role that can create
 * tables in it, and a missing one by a role that can create schemas in the database.
 * Locks: none.
 * Index: pg_class (relname, relnamespace), pg_namespace (nspname).
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
