import { bigint, boolean, int, json, list, nullable, text, uuid } from "../codec.ts"
import { placesOf } from "../limits/kinds.ts"
import { statement } from "../statement.ts"
import { leaving } from "./leaving.ts"
import { ENDED } from "./schedule-ends.ts"

/**
 * Takes back up to `limit` runs of dead leases. Each becomes ready again, and history records the attempt as lost.
 *
 * Charging: a loss counts as an attempt only if the start of the handler was recorded. The first loss is therefore
 * free, but makes the run a suspect, whose starts are recorded from then on. A started run that must not run again
 * after a loss is buried. A cancelled run ends as cancelled.
 * When: call it for leases that are marked dead (workers/mark-dead). A lease that is merely late may be renewed in the
 * same moment, and its runs are left alone. Repeat the call until it returns nothing, and again a while later: a claim
 * that was in flight when the lease died may still commit.
 * Locks: the rows it takes back. Rows that another transaction holds are skipped.
 * Index: the primary keys of claims and runs. Hashed, because PostgreSQL would otherwise search the lists once per row.
 */
export const reapRuns = statement({
  name: "runs/reap",
  params: { leases: list(uuid), limit: int },
  returns: {
    id: uuid,
    lease: uuid,
    pool: text,
    job: text,
    tenant: text,
    solo: boolean,
    priority: int,
    state: text,
    rank: bigint,
    limit_keys: nullable(json),
  },
  plan: "hashed",
  sql: `
  with lost as materialized (
    select id, claim, lease, attempt, due_at, cause, started, solo,
      case
        when cancelling then 'cancelled'
        when started and bury_when_lost then 'dead'
        else 'ready'
      end as next
    from {runs}
    where id = any (array(select unnest(runs) from {claims} where lease = any (@leases))) and lease = any (@leases)
      and lease = any (array(select lease from {workers} where dead))
    limit @limit
    for update skip locked
  ),
  gone as (
    delete from {runs}
    where id = any (array(select id from lost where next <> 'ready'))
    returning id, job, pool, priority, enqueued_at, input, key, limited, tenant, generation, claims,
      bury_when_lost, tags, timeout_ms, retry, history, schedule, occurrence, missed, backfill
  ),
  moved as (
    update {runs} as run
    set stage = 'queued', rank = (date_part('epoch', {now}) * 1000000)::bigint,
      attempt = run.attempt + case when lost.started then 1 else 0 end,
      solo = true, suspect = true, started = false, cause = 'lost', lease = null, claim = null, progress = null,
      -- The run was claimed in time.
      start_by = null
    from lost
    where run.id = any (array(select id from lost where next = 'ready')) and run.id = lost.id
    returning run.id, run.job, run.pool, run.priority, run.rank, run.enqueued_at, run.tenant, run.generation,
      run.history, run.schedule, run.occurrence
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, finished_at, outcome, run_state, input,
      error_code, error_message, history, tenant, generation, charged, cause, worker, version, schedule, occurrence,
      fingerprint, priority, key, tags, timeout_ms, missed
    )
    select id, claim, attempt + 1, job, pool, lost.lease, enqueued_at, due_at, {now},
      'lost', case when next <> 'ready' then next end, input,
      case when next = 'dead' then 'LEASE_LOST' end,
      case when next = 'dead' then 'Its worker was lost after it had started, and the job must not run again then.' end,
      history, tenant, generation, lost.started, cause,
      worker.hostname || ':' || worker.pid, worker.version, schedule, occurrence,
      case when next = 'dead' then 'LEASE_LOST' end, priority, key, tags, timeout_ms, missed
    from (
      select id, job, pool, enqueued_at, input, tenant, generation, history, schedule, occurrence,
        priority, key, tags, timeout_ms, missed
      from gone
      union all
      select id, job, pool, enqueued_at, null, tenant, generation, history, schedule, occurrence,
        null, null, null, null, null
      from moved
    ) as run
    join lost using (id)
    left join {workers} as worker on worker.lease = lost.lease
  ),
  buried as (
    insert into {dead_letters} (
      run, job, pool, priority, attempts, enqueued_at, died_at, input, error_code, error_message,
      tenant, generation, claims, bury_when_lost, tags, timeout_ms, retry, history, fingerprint,
      schedule, occurrence, missed, key, due_at, worker, version, limits
    )
    select id, job, pool, priority, attempt + 1, enqueued_at, {now}, input,
      'LEASE_LOST', 'Its worker was lost after it had started, and the job must not run again then.',
      tenant, generation, claims, bury_when_lost, tags, timeout_ms, retry, history, 'LEASE_LOST',
      schedule, occurrence, missed, key, due_at, worker.hostname || ':' || worker.pid, worker.version,
      case when limited then ${placesOf("gone.id")} end
    from gone
    join lost using (id)
    left join {workers} as worker on worker.lease = lost.lease
    where next = 'dead'
  ),
  ended as (
    select schedule, backfill, next = 'dead' as is_dead, 'LEASE_LOST' as error_code,
      'Its worker was lost after it had started.' as error_message
    from gone
    join lost using (id)
  ),
  ${ENDED},
  ${leaving("select id from lost where next = 'dead'")}
  select id, lost.lease, coalesce(gone.pool, moved.pool) as pool, coalesce(gone.job, moved.job) as job,
    coalesce(gone.tenant, moved.tenant) as tenant, true as solo,
    coalesce(gone.priority, moved.priority) as priority, next as state, coalesce(moved.rank, 0) as rank,
    case when gone.limited then (
      select json_agg(key) from left_line where run = lost.id
    ) end as limit_keys
  from lost
  left join gone using (id)
  left join moved using (id)
`,
})
