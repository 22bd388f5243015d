import { int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { hold, park, READY_LANES } from "./parking.ts"

/**
 * Parks up to `limit` ready runs of paused jobs, so that claims do not have to skip them.
 *
 * Search: no index leads from a job to its ready runs. Every run would pay for it, and few jobs are paused. The
 * statement therefore reads the first `depth` runs of each of up to `lanes` lanes, which is where claims would meet
 * them. Deeper runs move forward by themselves.
 * Guarantee: a parked run loses its rank and gives up its places under limits. Everything else stays.
 * Locks: the rows it parks, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued', and the primary key of run_limits.
 */
export const parkPausedJobs = statement({
  name: "runs/park-paused-jobs",
  params: { lanes: int, depth: int, limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with recursive ${READY_LANES},
  seen as (
    select run.tuple, run.job
    from lane
    cross join lateral (
      select ctid as tuple, job
      from {runs}
      where stage = 'queued' and lease is null and pool = lane.pool and solo = lane.solo and priority = lane.priority
      order by rank
      limit @depth
    ) as run
    where exists (select from {pauses} where kind = 'job')
  ),
  ${hold(`
      select tuple
      from seen
      where job = any (array(select name from {pauses} where kind = 'job'))
    `)},
  ${park("pause")}
`,
})
