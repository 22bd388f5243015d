/** What the statements that settle successful attempts share. */
import { bigint, double, int, json, list, nullable, text, uuid } from "../codec.ts"
import { LEAVING } from "./leaving.ts"

export const COMPLETE_PARAMS = {
  lease: uuid,
  worker: text,
  version: nullable(text),
  ids: list(uuid),
  claims: list(bigint),
  startedAgoMs: list(double),
  results: list(nullable(json)),
  logs: list(nullable(json)),
} as const

export const COMPLETE_COLUMNS = {
  count: int,
  completed: nullable(json),
  cancelled: nullable(json),
  limit_keys: nullable(json),
} as const

/** `also` is inserted after `gone`, the common table expression with the deleted runs. */
export function completing(also = ""): string {
  return `
  with moment as materialized (
    -- The clock is read once, apart: in the select list of the insert it would cost a step for every row.
    select {now} as at
  ),
  gone as (
    delete from {runs} as run
    using unnest(@ids, @claims, @startedAgoMs, @results, @logs) as ended (id, claim, started_ago_ms, result, log)
    where run.id = any (@ids) and run.id = ended.id and run.claim = ended.claim
      and run.lease = @lease
      and exists (select from {workers} where lease = @lease and not dead)
    -- The columns that every later part tests come first: PostgreSQL reads a row from the left, and only as far as
    -- needed.
    returning cancelling, limited, run.id, key, run.claim, attempt, job, pool, enqueued_at, due_at, input, tenant,
      generation, history, cause, schedule, occurrence, backfill, priority, tags, timeout_ms, missed, started_ago_ms,
      case when cancelling then null else result end as result, log
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at, outcome, run_state,
      input, result, history, tenant, generation, charged, cause, worker, version, schedule, occurrence, logs,
      priority, key, tags, timeout_ms, missed
    )
    select id, claim, attempt + 1, job, pool, @lease, enqueued_at, due_at,
      (select at from moment) - started_ago_ms * interval '1 millisecond', (select at from moment),
      case when cancelling then 'cancelled' else 'succeeded' end,
      case when cancelling then 'cancelled' else 'succeeded' end,
      input, result, history, tenant, generation, not cancelling, cause, @worker, @version, schedule, occurrence, log,
      priority, key, tags, timeout_ms, missed
    from gone
  ),
  ${also}
  ${LEAVING}
  select count(*)::int as count,
    case when count(*) < cardinality(@ids) then (select coalesce(json_agg(id), '[]') from gone) end as completed,
    case when bool_or(cancelling) then (select json_agg(id) from gone where cancelling) end as cancelled,
    (select json_agg(distinct key) from left_line) as limit_keys
  from gone
`
}
