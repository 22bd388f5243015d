import { bigint, double, json, list, nullable, text, uuid } from "../codec.ts"
import { isKindThat, placesOf } from "../limits/kinds.ts"
import { statement } from "../statement.ts"
import { leaving } from "./leaving.ts"
import { ENDED } from "./schedule-ends.ts"

/**
 * Settles attempts. Each attempt goes into history. Its run ends (dead runs go to the dead letters) or returns for
 * another attempt. Returns the next state of each run. A missing run was no longer this worker's.
 *
 * Successes go through `runs/complete`.
 * Input: `states` holds the next state of each run: a final one, `waiting` for `delaysMs`, or `ready` without a delay.
 * A run that was cancelled in the meantime ends as cancelled, whatever its handler returned. An empty list means all
 * nulls. `startedAgoMs` is null if the handler did not run.
 * Charging: only attempts that reached a verdict count.
 * Fence: (lease, claim) of each run, and a lease that is not dead. The rows are locked by id first and matched with
 * their claims afterwards: a join of pairs would be a hash join over the whole table.
 * Guarantee: a run that ends leaves `runs` in the statement that writes its attempt to history, frees or remembers its
 * key, and gives up its places under limits. A run that waits for another attempt keeps its place in its schedule's
 * line, and no other. `limit_keys` are the keys that may admit their next run.
 * By list of ids: every read of runs has one. A join alone reads the whole table, if the table was empty when the
 * statement was planned.
 * By id and not by ctid: after a lock wait the row has a new version, whose ctid is not visible to a statement that
 * started earlier.
 * Locks: the rows, in the order of their ids.
 * Index: the primary keys of runs, keys and run_limits. Hashed, because PostgreSQL would otherwise search the lists
 * once per row, which was most of the time for 500 retries.
 */
export const settleRuns = statement({
  name: "runs/settle",
  params: {
    lease: uuid,
    worker: text,
    version: nullable(text),
    ids: list(uuid),
    claims: list(bigint),
    states: list(text),
    outcomes: list(text),
    startedAgoMs: list(nullable(double)),
    results: list(nullable(json)),
    delaysMs: list(nullable(double)),
    causes: list(nullable(text)),
    errorCodes: list(nullable(text)),
    errorMessages: list(nullable(text)),
    errorStacks: list(nullable(text)),
    fingerprints: list(nullable(text)),
    logs: list(nullable(json)),
  },
  returns: { id: uuid, state: text, rank: bigint, limit_keys: nullable(json) },
  plan: "hashed",
  sql: `
  with verdict as materialized (
    select *
    from unnest(
      @ids, @claims, @states, @outcomes, @startedAgoMs, @results, @delaysMs, @causes,
      @errorCodes, @errorMessages, @errorStacks, @fingerprints, @logs
    ) as v (
      id, claim, state, outcome, started_ago_ms, result, delay_ms, cause,
      error_code, error_message, error_stack, fingerprint, log
    )
  ),
  held as materialized (
    select id, claim, cancelling, attempt, due_at, cause
    from {runs}
    where id = any (@ids) and lease = @lease
      and exists (select from {workers} where lease = @lease and not dead)
    order by id
    for update
  ),
  mine as materialized (
    select id, claim, held.attempt, held.due_at, held.cause,
      case when cancelling then 'cancelled' else verdict.state end as next,
      case when cancelling then 'cancelled' else outcome end as outcome,
      case when cancelling then null else result end as result,
      started_ago_ms, delay_ms, verdict.cause as next_cause,
      error_code, error_message, error_stack, fingerprint, log
    from held
    join verdict using (id, claim)
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from mine where next not in ('waiting', 'ready')))
    returning id, job, pool, priority, enqueued_at, input, key, limited, tenant, generation, claims,
      bury_when_lost, tags, timeout_ms, retry, history, schedule, occurrence, missed, backfill
  ),
  moved as (
    update {runs} as run
    set stage = case when next = 'ready' then 'queued' else next end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint,
      due_at = case when next = 'waiting' then {now} + delay_ms * interval '1 millisecond' else run.due_at end,
      attempt = run.attempt
        + case when outcome in ('failed', 'timed_out') and started_ago_ms is not null then 1 else 0 end,
      -- The run has started in time once, so the deadline no longer applies.
      start_by = case when outcome = 'released' and started_ago_ms is null then start_by end,
      last_error = case
        when error_message is null then last_error
        else json_build_object('code', error_code, 'message', error_message, 'fingerprint', fingerprint)
      end,
      cause = next_cause, lease = null, claim = null, started = false, progress = null
    from mine
    where run.id = any (array(select id from mine where next in ('waiting', 'ready'))) and run.id = mine.id
    returning run.id, {schema}.state(run) as state, run.rank, run.job, run.pool, run.enqueued_at, run.limited,
      run.tenant, run.generation, run.history, run.schedule, run.occurrence
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at, outcome, run_state,
      input, result, error_code, error_message, error_stack, history, tenant, generation, charged, cause,
      worker, version, schedule, occurrence, logs, fingerprint, priority, key, tags, timeout_ms, missed
    )
    select id, claim, attempt + 1, job, pool, @lease, enqueued_at, due_at,
      {now} - started_ago_ms * interval '1 millisecond', {now},
      outcome, case when next not in ('waiting', 'ready') then next end, input, result,
      error_code, error_message, error_stack, history, tenant, generation,
      outcome in ('succeeded', 'failed', 'timed_out') and started_ago_ms is not null, cause,
      @worker, @version, schedule, occurrence, log, fingerprint, priority, key, tags, timeout_ms, missed
    from (
      select id, job, pool, enqueued_at, input, tenant, generation, history, schedule, occurrence,
        priority, key, tags, timeout_ms, missed
      from gone
      union all
      select id, job, pool, enqueued_at, null, tenant, generation, history, schedule, occurrence,
        null, null, null, null, null
      from moved
    ) as run
    join mine using (id)
  ),
  buried as (
    insert into {dead_letters} (
      run, job, pool, priority, attempts, enqueued_at, died_at, input, error_code, error_message, error_stack,
      tenant, generation, claims, bury_when_lost, tags, timeout_ms, retry, history, fingerprint,
      schedule, occurrence, missed, key, due_at, started_at, worker, version, limits
    )
    select id, job, pool, priority, attempt + case when started_ago_ms is null then 0 else 1 end,
      enqueued_at, {now}, input, error_code, error_message, error_stack,
      tenant, generation, claims, bury_when_lost, tags, timeout_ms, retry, history, fingerprint,
      schedule, occurrence, missed, key, due_at, {now} - started_ago_ms * interval '1 millisecond', @worker, @version,
      case when limited then ${placesOf("gone.id")} end
    from gone
    join mine using (id)
    where next = 'dead'
  ),
  ended as (
    select schedule, backfill, next = 'dead' as is_dead, error_code, error_message
    from gone
    join mine using (id)
  ),
  ${ENDED},
  ${leaving("select id from mine where next = 'dead'")},
  stepped_out as (
    update {run_limits}
    set admitted = null
    where run = any (array(select id from moved where limited and state = 'waiting')) 
      and not (${isKindThat("keepsPlace")})
    returning run, key
  )
  select id, next as state, coalesce(moved.rank, 0) as rank,
    case when coalesce(gone.limited, moved.limited) then (
      select json_agg(key)
      from (select * from left_line union all select * from stepped_out) as entry
      where entry.run = mine.id
    ) end as limit_keys
  from mine
  left join gone using (id)
  left join moved using (id)
`,
})
