import { bigint, double, int, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { LEAVING } from "./leaving.ts"
import { SUCCEEDED } from "./schedule-ends.ts"

/**
 * Writes down attempts that succeeded: what nearly all of them do, and so the cheapest way to do that. Says how many
 * there were, and about the rest only what is out of the ordinary.
 *
 * A run that someone cancelled in the meantime ends as cancelled (`cancelled`), its result unkept. `completed` names
 * those that were this worker's, if some were not. `limit_keys` are the limits whose lines may move on. A list that is
 * empty is all nulls: no logs, results that are null.
 * Fence: (lease, claim) of each run, and a lease that is not dead.
 * Guarantee: a run leaves `runs` in the same statement in which history receives it, its key is free and its place
 * under limits given up. Whichever way the runs of a batch end, they all end: so they need not be locked first, and a
 * row that others changed meanwhile is judged anew, with its claim.
 * Locks: the rows, in the order of their ids.
 * Index: the primary keys of runs, keys and run_limits. Hashed, because the pair of id and claim would otherwise be
 * looked for once per row. `state` is not asked for, so that
 * runs_leased is no temptation: who has a claim is running.
 */
export const completeRuns = statement({
  name: "runs/complete",
  params: {
    lease: uuid,
    worker: text,
    version: nullable(text),
    ids: list(uuid),
    claims: list(bigint),
    startedAgoMs: list(double),
    results: list(nullable(json)),
    logs: list(nullable(json)),
  },
  returns: {
    count: int,
    completed: nullable(json),
    cancelled: nullable(json),
    limit_keys: nullable(json),
  },
  plan: "hashed",
  sql: `
  with gone as (
    delete from {runs} as run
    using unnest(@ids, @claims, @startedAgoMs, @results, @logs) as ended (id, claim, started_ago_ms, result, log)
    where run.id = any (@ids) and run.id = ended.id and run.claim = ended.claim
      and run.lease = @lease
      and exists (select from {workers} where lease = @lease and not dead)
    returning run.id, run.claim, attempt, job, pool, enqueued_at, due_at, input, tenant, generation, history, cause,
      schedule, occurrence, backfill, key, limited, cancelling, started_ago_ms,
      case when cancelling then null else result end as result, log
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at, outcome, run_state,
      input, result, history, tenant, generation, charged, cause, worker, version, schedule, occurrence, logs
    )
    select id, claim, attempt + 1, job, pool, @lease, enqueued_at, due_at,
      {now} - started_ago_ms * interval '1 millisecond', {now},
      case when cancelling then 'cancelled' else 'succeeded' end,
      case when cancelling then 'cancelled' else 'succeeded' end,
      input, result, history, tenant, generation, not cancelling, cause, @worker, @version, schedule, occurrence, log
    from gone
  ),
  ${SUCCEEDED},
  ${LEAVING}
  select count(*)::int as count,
    case when count(*) < cardinality(@ids) then coalesce(json_agg(id), '[]') end as completed,
    json_agg(id) filter (where cancelling) as cancelled,
    (select json_agg(distinct key) from left_line) as limit_keys
  from gone
`,
})
