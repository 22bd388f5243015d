import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Which server answers: its system identifier and its timeline, which a restart keeps, and a failover, a restore or
 * another server does not. Where commits are not waited for (`synchronous_commit = off`), a crash may take back what was
 * answered, so there it is also since when its checkpointer is at work, which every crash ends.
 *
 * A statement of its own, because everybody may ask this unless a provider forbids it, and a renewal must not fail for
 * that. The timeline is that of the WAL being written: pg_control_checkpoint() tells the old one until the first
 * checkpoint after a promotion.
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
        -- Not everybody may see that.
        pg_catalog.pg_postmaster_start_time()
      )
    else '' end as server
  from pg_catalog.pg_control_system()
`,
})
