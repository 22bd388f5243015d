import { boolean, int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { LEAVING } from "./leaving.ts"
import { CANCELLED } from "./schedule-ends.ts"

/**
 * Cancels a run: one that is not running ends at once, a running one is marked, so that however its attempt ends, the
 * run ends as cancelled. Returns the state it was in and, for a running one, the lease of its worker.
 *
 * Guarantee: after this commits the run is not claimed again.
 * Locks: the run's row; waits for a settle that is under way.
 * Index: the primary keys of runs, keys and run_limits.
 */
export const cancelRun = statement({
  name: "runs/cancel",
  params: { id: uuid, code: text, message: text },
  returns: {
    state: text,
    job: text,
    pool: text,
    tenant: text,
    generation: int,
    lease: nullable(uuid),
    was_cancelling: boolean,
    limit_keys: nullable(json),
  },
  plan: "index",
  sql: `
  with held as materialized (
    select id, {schema}.state(run) as state, job, pool, tenant, generation, attempt, due_at, cause, lease, cancelling
    from {runs} as run
    where id = @id
    for update
  ),
  marked as (
    update {runs}
    set cancelling = true
    where id = any (array(select id from held where state = 'running' and not cancelling))
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from held where state <> 'running'))
    returning id, job, pool, priority, enqueued_at, input, key, limited, tenant, generation, tags, timeout_ms, history,
      schedule, occurrence, missed, backfill
  ),
  recorded as (
    insert into {attempts} (
      run, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, run_state, input,
      error_code, error_message, history, tenant, generation, charged, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    )
    select id, attempt + 1, gone.job, gone.pool, enqueued_at, due_at, {now}, 'cancelled', 'cancelled', input,
      @code, @message, history, gone.tenant, gone.generation, false, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    from gone
    join held using (id)
  ),
  ${CANCELLED},
  ${LEAVING}
  select state, job, pool, tenant, generation, lease, cancelling as was_cancelling,
    (select json_agg(key) from left_line) as limit_keys
  from held
`,
})
