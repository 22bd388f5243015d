import { bigint, boolean, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes one new run that has nothing but an input and that its own process takes at once: already claimed under
 * (`lease`, `claim`), with a row in `claims`. Returns no row if the call came too late.
 *
 * Guarantee: nothing is claimed under a lease that is not live, nor anything that is paused; the run is ready then. The
 * id must be new; an existing id is an error. Nothing is written after `notAfter`, so a copy of this call that got lost
 * on its way cannot arrive later.
 * Locks: none besides the new rows.
 * Index: the primary key of workers. The table of pauses is small.
 */
export const handOffRun = statement({
  name: "runs/hand-off",
  params: {
    id: uuid,
    job: text,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    notAfter: nullable(instant),
    input: json,
    lease: uuid,
    claim: bigint,
  },
  returns: { is_claimed: boolean, rank: bigint, now_ms: whole },
  sql: `
  with verdict as materialized (
    select at, exists (select from {workers} where lease = @lease and not dead and expires_at > at)
      and not exists (
        select from {pauses}
        where kind = 'job' and name = @job or kind = 'pool' and name = @pool or kind = 'everything'
      )
      as is_claimed
    -- Asked once, and not wherever it is mentioned.
    from (select {now} as at offset 0) as moment
    where @notAfter is null or at <= @notAfter
  ),
  noted as (
    insert into {claims} (lease, claim, runs)
    select @lease, @claim, array[@id]
    from verdict
    where is_claimed
  )
  insert into {runs} (
    id, job, pool, priority, rank, stage, lease, claim, claims, enqueued_at, due_at, input, history, bury_when_lost
  )
  select @id, @job, @pool, @priority, (date_part('epoch', at) * 1000000)::bigint, 'queued',
    case when is_claimed then @lease end, case when is_claimed then @claim end, case when is_claimed then 1 else 0 end,
    at, at, @input, @history, @buryWhenLost
  from verdict
  returning lease is not null as is_claimed, rank, (date_part('epoch', enqueued_at) * 1000000)::bigint / 1000 as now_ms
`,
})
