import { boolean, double, instant, json, nullable, rows, text, uuid } from "../codec.ts"
import { LEAVING } from "../runs/leaving.ts"
import { CANCELLED } from "../runs/schedule-ends.ts"
import { statement } from "../statement.ts"

/**
 * Ends runs that new runs of the same schedule replace. The parameters say which: runs that have not started, runs that
 * wait for a retry, running runs. A run that is not running ends at once. A running run is cancelled and has until
 * `end_by` to end. An occurrence whose run never started has not fired, so the ledger gets its outcome instead. Returns
 * the replaced runs, and the limit keys that have room now.
 *
 * Guarantee: run in the transaction that has written the new runs, so there is always a run. The state is checked after
 * the row is locked, so a run that a claim takes at this moment counts as running.
 * Locks: the rows of the replaced runs, in the order of their ids.
 * Index: runs_by_schedule, the primary keys of runs, run_limits, keys and fires.
 */
export const displaceRuns = statement({
  name: "schedules/displace",
  params: {
    /** The new runs. */
    made: rows({
      schedule: text,
      key: text,
      run: uuid,
      /** The occurrence of the run. Null for a run made by hand. */
      intoOccurrence: nullable(instant),
      takesUnstarted: boolean,
      takesRetrying: boolean,
      takesRunning: boolean,
      /** The outcome in the ledger for occurrences whose replaced runs had not started. */
      outcome: text,
      graceMs: double,
      message: text,
    }),
    code: text,
  },
  returns: { id: uuid, is_running: boolean, message: text, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with given as materialized (
    select *
    from unnest(@made) as given (@made.columns)
  ),
  others as materialized (
    select distinct on (other.id) other.id, given.*
    from given
    cross join lateral (
      select run.id
      from {runs} as run
      join {run_limits} as entry on entry.run = run.id and entry.key = given.key
      where run.schedule = given.schedule and not run.backfill
    ) as other
    where other.id <> all (@made.run)
  ),
  held as materialized (
    select id, {schema}.state(run) as state, attempt, due_at, cause,
      lease is null and stage <> 'waiting' and cause is null and attempt = 0 as unstarted
    from {runs} as run
    where id = any (array(select id from others))
    order by id
    for update
  ),
  verdict as materialized (
    select id, held.state, held.attempt, held.due_at, held.cause, into_occurrence, message, grace_ms,
      case when unstarted then outcome end as outcome
    from held
    join others using (id)
    where case
      when held.state = 'running' then takes_running
      when unstarted then takes_unstarted
      else takes_retrying
    end
  ),
  marked as (
    update {runs} as run
    set cancelling = true,
      end_by = least(coalesce(run.end_by, 'infinity'), {now} + grace_ms * interval '1 millisecond')
    from verdict
    where run.id = verdict.id and run.id = any (array(select id from verdict where state = 'running'))
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from verdict where state <> 'running'))
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
      @code, message, history, tenant, generation, false, cause, schedule, occurrence,
      priority, key, tags, timeout_ms, missed
    from gone
    join verdict using (id)
  ),
  ledger as (
    update {fires} as fire
    set outcome = verdict.outcome, reason = 'overlap', into_occurrence = verdict.into_occurrence
    from gone
    join verdict using (id)
    where fire.schedule = gone.schedule::uuid and fire.occurrence = gone.occurrence and fire.run = gone.id
      and verdict.outcome is not null
  ),
  ${CANCELLED},
  ${LEAVING}
  select verdict.id, verdict.state = 'running' as is_running, message,
    (select json_agg(key) from left_line where run = verdict.id) as limit_keys
  from verdict
`,
})
