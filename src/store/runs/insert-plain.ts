import { bigint, boolean, instant, int, jsonList, list, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes new runs of one job that have nothing but an input, at little more than half the price of `runs/insert`.
 * Returns how many there were and the rank of the first, or no row if the call came too late. The runs are ready, or
 * already claimed if their own process takes them at once (`lease`, `claim`).
 *
 * Guarantee: all or none. The ids must be new; an existing id is an error. Nothing is written after `notAfter`, so a
 * copy of this call that got lost on its way cannot arrive later. Nothing is claimed under a lease that is not live,
 * nor anything that is paused.
 * Locks: none besides the new rows.
 */
export const insertPlainRuns = statement({
  name: "runs/insert-plain",
  params: {
    job: text,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    lease: nullable(uuid),
    claim: nullable(bigint),
    notAfter: nullable(instant),
    ids: list(uuid),
    inputs: jsonList,
  },
  returns: { state: text, runs: int, rank: bigint, now_ms: whole },
  sql: `
  with verdict as materialized (
    select at, (date_part('epoch', at) * 1000000)::bigint as rank, @lease is not null
      and exists (select from {workers} where lease = @lease and not dead and expires_at > at)
      and not exists (
        select from {pauses}
        where kind = 'job' and name = @job or kind = 'pool' and name = @pool or kind = 'everything'
      )
      as is_claimed
    -- "offset 0" reads the clock once, and not at each mention.
    from (select {now} as at offset 0) as moment
    where @notAfter is null or at <= @notAfter
  ),
  inserted as (
    insert into {runs} (
      id, job, pool, priority, rank, stage, lease, claim, claims, enqueued_at, due_at, input, history, bury_when_lost
    )
    select id, @job, @pool, @priority, rank + place - 1,
      'queued', case when is_claimed then @lease end, case when is_claimed then @claim end,
      case when is_claimed then 1 else 0 end,
      at, at, input, @history, @buryWhenLost
    from verdict
    cross join rows from (unnest(@ids), json_array_elements(@inputs)) with ordinality as given (id, input, place)
  ),
  noted as (
    insert into {claims} (lease, claim, runs)
    select @lease, @claim, @ids
    from verdict
    where is_claimed
  )
  -- All of them or an error, so no count is needed.
  select case when is_claimed then 'running' else 'ready' end as state, cardinality(@ids) as runs, rank,
    (date_part('epoch', at) * 1000000)::bigint / 1000 as now_ms
  from verdict
`,
})
