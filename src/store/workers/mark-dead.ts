import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks expired leases dead and returns every dead one, so that their runs can be reaped.
 *
 * Guarantee: once marked, the lease can be neither renewed nor claimed under. Never the caller's own.
 * Locks: the rows of expired leases; one that is just being renewed is skipped.
 */
export const markDeadWorkers = statement({
  name: "workers/mark-dead",
  params: { own: uuid },
  returns: { lease: uuid },
  sql: `
  with expired as (
    select ctid
    from {workers}
    where not dead and expires_at < {now} and lease <> @own
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
