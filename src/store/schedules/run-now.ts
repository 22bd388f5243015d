import { bigint, boolean, double, int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes a run of a schedule by hand, without an occurrence.
 *
 * Guarantee: run in the transaction that has locked the schedule (schedules/lock). A run under an overlap key, or of a
 * job with a limit, is parked. Locks: none beyond the new rows.
 */
export const runScheduleNow = statement({
  name: "schedules/run-now",
  params: {
    id: uuid,
    run: uuid,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    tags: nullable(json),
    timeoutMs: nullable(double),
    retry: nullable(json),
    overlapKey: nullable(text),
    overlapKind: text,
    jobLimit: nullable(text),
  },
  returns: { state: text, pool: text, solo: boolean, priority: int, rank: bigint },
  sql: `
  with made as (
    insert into {runs} as run (
      id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, input,
      tenant, tags, timeout_ms, retry, history, bury_when_lost, schedule
    )
    select @run, job, @pool, @priority, (date_part('epoch', {now}) * 1000000)::bigint,
      case when is_limited then 'parked' else 'queued' end, case when is_limited then 'limit' end,
      is_limited, is_limited, {now}, {now}, input, tenant,
      case when @tags is not null then array(select json_array_elements_text(@tags)) end,
      @timeoutMs, @retry, @history, @buryWhenLost, id::text
    from {schedules}
    cross join (select @overlapKey is not null or @jobLimit is not null as is_limited) as verdict
    where id = @id
    returning {schema}.state(run) as state, pool, solo, priority, rank
  ),
  in_line as (
    insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
    select @run, line.key, line.kind, line.limit_name, false, priority, rank
    from made
    cross join lateral (
      values (@overlapKey, @overlapKind, null), (@jobLimit, 'job', @jobLimit)
    ) as line (key, kind, limit_name)
    where line.key is not null
  )
  select state, pool, solo, priority, rank
  from made
`,
})
