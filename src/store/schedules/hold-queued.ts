import { json, nullable, text } from "../codec.ts"
import { IS_AT_WORK } from "../runs/parking.ts"
import { statement } from "../statement.ts"

/**
 * Parks the ready and parked runs of a schedule that no worker has claimed. Returns the limit keys under which they
 * gave up their places.
 *
 * Guarantee: no claim takes them after the commit. A run that a worker has claimed before is at work, and is not held.
 * Locks: the rows, in the order of their ids, and their places under limits.
 * Index: runs_by_schedule, the primary keys of runs and run_limits.
 */
export const holdQueuedRuns = statement({
  name: "schedules/hold-queued",
  params: { schedule: text },
  returns: { limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with held as materialized (
    select id, lease is null and stage <> 'waiting' as is_in_line, ${IS_AT_WORK} as at_work
    from {runs}
    where id = any (array(select id from {runs} where schedule = @schedule and not backfill))
    order by id
    for no key update
  ),
  moved as (
    update {runs}
    set stage = 'parked', parked_for = 'hold'
    where id = any (array(select id from held where is_in_line and not at_work))
    returning id, limited
  ),
  given_up as (
    update {run_limits}
    set admitted = null
    where run = any (array(select id from moved where limited))
    returning key
  )
  select json_agg(distinct key) as limit_keys
  from given_up
`,
})
