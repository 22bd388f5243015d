import { double, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks expired leases dead and returns every dead one, so that their runs can be reaped.
 *
 * Guarantee: once marked, the lease can be neither renewed nor claimed under. Never the caller's own. Nobody is marked by
 * a server that was restarted less than `upForMs` ago: its clock may have been set meanwhile, and those who have not found
 * it yet have had no time to renew. Where its clock was set back to before its start, nobody can tell, and it is as if that
 * were long ago. The caller's own lease is the measure, so one that is much longer than all others may lose by this.
 * Locks: the rows of expired leases; one that is just being renewed is skipped.
 */
export const markDeadWorkers = statement({
  name: "workers/mark-dead",
  params: { own: uuid, upForMs: double },
  returns: { lease: uuid },
  sql: `
  with expired as (
    select ctid
    from {workers}
    where not dead and expires_at < {now} and lease <> @own
      and pg_catalog.clock_timestamp() not between pg_catalog.pg_postmaster_start_time()
        and pg_catalog.pg_postmaster_start_time() + @upForMs * interval '1 millisecond'
    for update skip locked
  ),
  marked as (
    update {workers}
    set dead = true
    where ctid = any (array(select ctid from expired))
    returning lease
  )
  select lease from marked
  union all
  select lease from {workers} where dead
`,
})
