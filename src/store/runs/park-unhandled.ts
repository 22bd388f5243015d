import { double, int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { hold, isExpected, park, READY_LANES } from "./parking.ts"

/**
 * Parks up to `limit` runs that have been ready for more than `afterMs` and that no worker can execute, so that claims
 * do not skip them for ever. A worker that may return in a moment counts as able.
 *
 * Search: reads the oldest `depth` ready runs of each of up to `lanes` lanes, behind the running ones. The cost is
 * bounded, however large the backlog.
 * Guarantee: a parked run loses its rank and gives up its places under limits. Everything else stays.
 * Locks: the rows it parks, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued', and the primary key of run_limits.
 */
export const parkUnhandled = statement({
  name: "runs/park-unhandled",
  params: { afterMs: double, lanes: int, depth: int, limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with recursive ${READY_LANES},
  seen as materialized (
    select run.tuple, run.job, lane.pool
    from lane
    cross join lateral (
      select ctid as tuple, job
      from {runs}
      where stage = 'queued' and lease is null and pool = lane.pool and solo = lane.solo and priority = lane.priority
        and rank < ((extract(epoch from {now}) * 1000 - @afterMs) * 1000)::bigint
      order by rank
      limit @depth
    ) as run
  ),
  unhandled as materialized (
    select kind.job, kind.pool
    from (select distinct job, pool from seen) as kind
    where not ${isExpected("kind")}
  ),
  ${hold(`
      select seen.tuple
      from seen
      join unhandled using (job, pool)
    `)},
  ${park("handler")}
`,
})
