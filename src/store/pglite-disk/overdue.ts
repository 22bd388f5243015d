import { bigint, json, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What a server would do in the background: how much WAL there is since the last checkpoint, and which tables of a
 * schema are due for a vacuum by autovacuum's default rule.
 *
 * Locks: none.
 */
export const overdueUpkeep = statement({
  name: "pglite-disk/overdue",
  params: { of: text },
  returns: { wal_bytes: bigint, tables: json },
  sql: `
  select
    (pg_catalog.pg_current_wal_lsn() - (select redo_lsn from pg_catalog.pg_control_checkpoint()))::bigint as wal_bytes,
    (
      select coalesce(json_agg(relname), '[]')
      from pg_catalog.pg_stat_user_tables
      where schemaname = @of and n_dead_tup > 1000 + n_live_tup * 0.2
    ) as tables
`,
})
