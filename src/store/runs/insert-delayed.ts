import {
  bigint,
  boolean,
  double,
  instant,
  int,
  jsonList,
  list,
  nullable,
  text,
  uuid,
  whole,
} from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes new runs of one job that have nothing but an input and a time to wait, at two thirds of the price of `runs/insert`,
 * and half of it for one. Says how many there were, and with which rank the first of them; nothing if it came too late.
 *
 * Guarantee: all or none. Their ids must be new: one that is already there is an error. Nothing is written after
 * `notAfter`, so that a copy of this call that was lost on its way cannot come in later. When they are due is reckoned by
 * the database's clock.
 * Locks: none beyond the new rows.
 */
export const insertDelayedRuns = statement({
  name: "runs/insert-delayed",
  params: {
    job: text,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    notAfter: nullable(instant),
    ids: list(uuid),
    inputs: jsonList,
    delaysMs: list(double),
  },
  returns: { runs: int, rank: bigint, now_ms: whole },
  sql: `
  with moment as materialized (
    select at, (date_part('epoch', at) * 1000000)::bigint as rank
    -- Asked once, and not wherever it is mentioned.
    from (select {now} as at offset 0) as clock
    where @notAfter is null or at <= @notAfter
  ),
  inserted as (
    insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, history, bury_when_lost)
    select id, @job, @pool, @priority, rank + place - 1, 'waiting', at, at + delay_ms * interval '1 millisecond', input,
      @history, @buryWhenLost
    from moment
    cross join rows from (unnest(@ids, @delaysMs), json_array_elements(@inputs))
      with ordinality as given (id, delay_ms, input, place)
  )
  -- All of them, or an error: nobody has to be counted.
  select cardinality(@ids) as runs, rank, (date_part('epoch', at) * 1000000)::bigint / 1000 as now_ms
  from moment
`,
})
