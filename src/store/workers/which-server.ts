import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Identifies the server that answers by its system identifier and its timeline. A restart keeps both; a failover, a
 * restore or another server does not. With `synchronous_commit = off` a crash may lose answered commits, so the answer
 * then also holds the start time of the checkpointer, which changes with every crash.
 *
 * A statement of its own: a provider may forbid it to a role, and a renewal must not fail for that. The timeline is
 * that of the WAL being written, because pg_control_checkpoint() returns the old one until the first checkpoint after a
 * promotion.
 */
export const whichServer = statement({
  name: "workers/which-server",
  params: {},
  returns: { server: text },
  sql: `
  select system_identifier || '/' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)
    || case when pg_catalog.current_setting('synchronous_commit') = 'off' then
      '/' || coalesce(
        (select backend_start from pg_catalog.pg_stat_activity where backend_type = 'checkpointer' limit 1),
        -- Not every role may see that.
        pg_catalog.pg_postmaster_start_time()
      )
    else '' end as server
  from pg_catalog.pg_control_system()
`,
})
