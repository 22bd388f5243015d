import { instant, int, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What a server says about itself, and how much space the schema takes. It reads only the catalog, so the schema may be
 * missing.
 */
export const describeServer = statement({
  name: "status/describe",
  params: { schema: text },
  returns: {
    version: text,
    started_at: instant,
    database: text,
    database_bytes: whole,
    schema_bytes: whole,
    connections: int,
  },
  sql: `
  select pg_catalog.current_setting('server_version') as version,
    pg_catalog.pg_postmaster_start_time() as started_at,
    pg_catalog.current_database() as database,
    pg_catalog.pg_database_size(pg_catalog.current_database())::bigint as database_bytes,
    coalesce((
      select sum(pg_catalog.pg_total_relation_size(c.oid))
      from pg_catalog.pg_class as c
      join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
      where n.nspname = @schema and c.relkind in ('r', 'm')
    ), 0)::bigint as schema_bytes,
    (
      select count(*) from pg_catalog.pg_stat_activity
      where datname = pg_catalog.current_database() and backend_type = 'client backend'
        and pid <> pg_catalog.pg_backend_pid()
    )::int as connections
`,
})
