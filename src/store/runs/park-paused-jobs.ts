import { int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { hold, park, READY_LANES } from "./parking.ts"

/**
 * Parks up to `limit` ready runs of paused jobs, so that they are out of the way of claims.
 *
 * No index leads from a job to its ready runs: one would be written by every run for the sake of the few that
 * are paused. So this looks at the first `depth` runs of each of up to `lanes` lanes, which is where claims
 * would walk over them; what lies deeper comes nearer by itself.
 * Guarantee: a run keeps everything but its place in the order; under limits it gives that place up, too.
 * Locks: the rows it moves, and their places under limits; rows that others hold are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued'; the primary key of run_limits.
 */
export const parkPausedJobs = statement({
  name: "runs/park-paused-jobs",
  params: { lanes: int, depth: int, limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with recursive ${READY_LANES},
  seen as (
    select run.place, run.job
    from lane
    cross join lateral (
      select ctid as place, job
      from {runs}
      where stage = 'queued' and lease is null and pool = lane.pool and solo = lane.solo and priority = lane.priority
      order by rank
      limit @depth
    ) as run
    where exists (select from {pauses} where kind = 'job')
  ),
  ${hold(`
      select place
      from seen
      where job = any (array(select name from {pauses} where kind = 'job'))
    `)},
  ${park("pause")}
`,
})
