import { double, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks expired leases dead and returns every dead one, so that the reaper can take back their runs.
 *
 * Guarantee: a marked lease can be neither renewed nor used for claims. The caller's own lease is never marked.
 * Restart: a server that started less than `upForMs` ago marks no lease. Its clock may have been set meanwhile, and
 * processes that have not reconnected yet had no time to renew. If its clock was set back to before its start, the
 * check cannot tell, and takes the start as long ago.
 * `upForMs` is the length of the caller's own lease. A lease that is much longer may be marked too early.
 * Locks: the rows of expired leases. A row that is just being renewed is skipped.
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
