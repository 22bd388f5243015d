import { instant, int, json, list, nullable, text, uuid, whole } from "../codec.ts"
import { ENDED_ATTEMPT } from "../filtered/candidates.ts"
import { statement } from "../statement.ts"

/**
 * Runs in full, in any state: live ones, dead letters, and those that have ended.
 *
 * A dead run that is neither a dead letter nor live any more was discarded.
 * Guarantee: one snapshot. A run that is being settled, buried or replayed is returned once.
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: the primary keys of runs, dead_letters and workers, audit_subject, and attempts_by_run (run) in every
 * partition since then.
 */
export const loadRuns = statement({
  name: "runs/load",
  params: { ids: list(uuid), since: instant },
  returns: {
    id: uuid,
    state: text,
    job: text,
    pool: text,
    priority: int,
    tenant: text,
    tags: nullable(json),
    key: nullable(text),
    input: json,
    result: nullable(json),
    error_code: nullable(text),
    error_message: nullable(text),
    error_stack: nullable(text),
    fingerprint: nullable(text),
    attempt: int,
    generation: int,
    enqueued_at: instant,
    due_at: instant,
    started_at: nullable(instant),
    finished_at: nullable(instant),
    start_by: nullable(instant),
    timeout_ms: nullable(whole),
    schedule: nullable(text),
    occurrence: nullable(instant),
    missed: nullable(json),
    parked_for: nullable(text),
    worker: nullable(text),
    version: nullable(text),
    lease_until: nullable(instant),
    progress: nullable(json),
    rerun_of: nullable(text),
  },
  plan: "index",
  sql: `
  with live as materialized (
    select *, {schema}.state(run) as state
    from {runs} as run
    where id = any (@ids)
  ),
  dead as materialized (
    select *
    from {dead_letters}
    where run = any (@ids) and not exists (select from live where live.id = run)
  ),
  ended as (
    select distinct on (run) *
    from {attempts}
    where run = any (@ids) and finished_at >= @since and run_state is not null
      and not exists (select from live where live.id = run)
      and not exists (select from dead where dead.run = attempts.run)
    order by run, generation desc, finished_at desc
  ),
  told as (
    select id, state, job, pool, priority, tenant, array_to_json(tags) as tags, key, input, null::json as result,
      last_error ->> 'code' as error_code, last_error ->> 'message' as error_message, null as error_stack,
      last_error ->> 'fingerprint' as fingerprint, attempt + case when live.lease is null then 0 else 1 end as attempt,
      generation, enqueued_at, due_at, null::timestamptz as started_at, null::timestamptz as finished_at, start_by,
      timeout_ms, schedule, occurrence, missed, parked_for, worker.hostname || ':' || worker.pid as worker,
      worker.version,
      worker.expires_at as lease_until, progress
    from live
    left join {workers} as worker on worker.lease = live.lease
    union all
    select run, 'dead', job, pool, priority, tenant, array_to_json(tags), key, input, null,
      error_code, error_message, error_stack, fingerprint, attempts,
      generation, enqueued_at, coalesce(due_at, enqueued_at), started_at, died_at, null,
      timeout_ms, schedule, occurrence, missed, null, worker, version, null, null
    from dead
    union all
    select run, case run_state when 'dead' then 'discarded' else run_state end, job, pool, coalesce(priority, 0),
      tenant, array_to_json(tags), key, input, result,
      error_code, error_message, error_stack, fingerprint, ${ENDED_ATTEMPT},
      generation, enqueued_at, due_at, started_at, finished_at, null,
      timeout_ms, schedule, occurrence, missed, null, worker, version, null, null
    from ended
  )
  select told.*, (
      select after ->> 'rerunOf'
      from {audit}
      where subject = 'run:' || told.id and action in ('run.rerun', 'run.clone') and after ->> 'rerunOf' is not null
      limit 1
    ) as rerun_of
  from told
`,
})
