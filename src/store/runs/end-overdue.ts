import { int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { LEAVING } from "./leaving.ts"
import { CANCELLED } from "./schedule-ends.ts"

/** Does a replaced run end when its time is over? Yes, unless its job holds the place until the handler returns. */
export const ENDS_IN_TIME = `exists (
        select from {jobs} as job where job.name = run.job and job.settings ->> 'overrun' = 'free'
      )`

/**
 * Ends replaced runs that have not ended within their time, for jobs with `overrun: "free"`, whose handlers do not hold
 * their places. The runs are taken from their workers: a later settle of such a run is refused. Returns the runs, with
 * the keys that may admit their next run.
 *
 * Locks: the rows, in the order of their ids. Rows that another transaction holds are left for the next call.
 * Index: runs_ending (end_by) where end_by is not null, and the primary keys of runs, jobs, keys and run_limits.
 */
export const endOverdueRuns = statement({
  name: "runs/end-overdue",
  params: { code: text, message: text, limit: int },
  returns: { id: uuid, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with held as materialized (
    select id, due_at, cause
    from {runs}
    where id = any (array(
      select id
      from {runs} as run
      where end_by is not null and end_by <= {now} and ${ENDS_IN_TIME}
      order by end_by
      limit @limit
    ))
    order by id
    for update skip locked
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from held))
    returning id, claim, lease, attempt, job, pool, priority, enqueued_at, input, key, limited, tenant, generation,
      tags,
      timeout_ms, history, schedule, occurrence, missed, backfill
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, finished_at, outcome, run_state, input,
      error_code, error_message, history, tenant, generation, charged, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    )
    select id, claim, attempt + 1, job, pool, lease, enqueued_at, due_at, {now}, 'cancelled', 'cancelled', input,
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
