import { json, nullable, text, uuid } from "../codec.ts"
import { LEAVING } from "../runs/leaving.ts"
import { CANCELLED } from "../runs/schedule-ends.ts"
import { statement } from "../statement.ts"

/**
 * Cancels the runs of a schedule that are not running, including runs that wait for a retry. Returns them, with the
 * limit keys that have room now.
 *
 * Guarantee: the state is checked after the row is locked, so a run that a claim takes at this moment counts as
 * running. Locks: the rows, in the order of their ids. Index: runs_by_schedule, the primary keys of runs, run_limits
 * and keys.
 */
export const cancelQueuedRuns = statement({
  name: "schedules/cancel-queued",
  params: { schedule: text, code: text, message: text },
  returns: { id: uuid, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with held as materialized (
    select id, lease, attempt, due_at, cause
    from {runs}
    where id = any (array(select id from {runs} where schedule = @schedule and lease is null))
    order by id
    for update
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from held where lease is null))
    returning id, job, pool, priority, enqueued_at, input, key, limited, tenant, generation, tags, timeout_ms, history,
      schedule, occurrence, missed, backfill
  ),
  recorded as (
    insert into {attempts} (
      run, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, run_state, input,
      error_code, error_message, history, tenant, generation, charged, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    )
    select id, attempt + 1, job, pool, enqueued_at, due_at, {now}, 'cancelled', 'cancelled', input,
      @code, @message, history, tenant, generation, false, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    from gone
    join held using (id)
  ),
  ${CANCELLED},
  ${LEAVING}
  select id, (select json_agg(key) from left_line where run = gone.id) as limit_keys
  from gone
`,
})
