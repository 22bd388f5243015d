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
 * Writes new runs of one job that have nothing but an input and a delay, at two thirds of the price of `runs/insert`,
 * and half of it for a single run. Returns how many there were and the rank of the first, or no row if the call came
 * too late.
 *
 * Apart from `runs/insert-plain`, because one statement for both costs the server a fifth more for a single delayed
 * run.
 * Guarantee: all or none. The ids must be new; an existing id is an error. Nothing is written after `notAfter`, so a
 * copy of this call that got lost on its way cannot arrive later. The database's clock decides when the runs are due.
 * Locks: none besides the new rows.
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
    -- "offset 0" reads the clock once, and not at each mention.
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
  -- All of them or an error, so no count is needed.
  select cardinality(@ids) as runs, rank, (date_part('epoch', at) * 1000000)::bigint / 1000 as now_ms
  from moment
`,
})
