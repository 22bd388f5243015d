import { boolean, instant, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of each job are ready, and when the longest overdue of each was due; the most first.
 *
 * Locks: none.
 * Cost: reads `most` queued runs at most, in the order in which workers claim them.
 * Index: runs_queued.
 */
export const dueByJob = statement({
  name: "runs/due-by-job",
  params: { most: int },
  returns: { job: text, due: int, oldest_due: instant, capped: boolean },
  plan: "index",
  sql: `
  select job, count(*)::int as due, min(due_at) as oldest_due, sum(count(*)) over () >= @most as capped
  from (
    select job, due_at
    from {runs}
    where stage = 'queued' and lease is null
    order by pool, solo, priority desc, rank
    limit @most
  ) as run
  group by job
  order by 2 desc, 1
`,
})
