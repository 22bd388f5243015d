import { double, instant, int, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes new runs: ready when they are due, waiting when not. Returns those that were new.
 *
 * Guarantee: all or none; an id that is already there is left alone, so a repeated call adds nothing.
 * The database's clock decides what is due: `delays` count from now, `runAt` is compared with it.
 * Locks: none beyond the new rows.
 */
export const insertRuns = statement({
  name: "runs/insert",
  params: {
    ids: list(uuid),
    jobs: list(text),
    pools: list(text),
    priorities: list(int),
    delaysMs: list(double),
    runAt: list(nullable(instant)),
    inputs: list(json),
  },
  returns: { id: uuid, state: text },
  sql: `
  insert into {runs} (id, job, pool, priority, rank, state, enqueued_at, due_at, input)
  select id, job, pool, priority,
    (extract(epoch from {now}) * 1000000)::bigint,
    case when due_at <= {now} then 'ready' else 'waiting' end,
    {now}, due_at, input
  from (
    select id, job, pool, priority, input,
      coalesce(run_at, {now} + delay_ms * interval '1 millisecond') as due_at
    from unnest(@ids, @jobs, @pools, @priorities, @delaysMs, @runAt, @inputs)
      as new (id, job, pool, priority, delay_ms, run_at, input)
  ) as new
  on conflict (id) do nothing
  returning id, state
`,
})
