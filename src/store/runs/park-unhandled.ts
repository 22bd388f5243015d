import { double, int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { hold, isExpected, park, READY_LANES } from "./parking.ts"

/**
 * Parks up to `limit` runs that have been ready for longer than `afterMs` and that no worker can execute,
 * neither a live one nor one that may be back in a moment, so that claims do not walk over them for ever.
 *
 * Looks at the oldest `depth` ready runs of each of up to `lanes` lanes, behind what is running: bounded, whatever the
 * backlog.
 * Guarantee: a run keeps everything but its place in the order; under limits it gives that place up, too.
 * Locks: the rows it moves, and their places under limits; rows that others hold are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued'; the primary key of run_limits.
 */
export const parkUnhandled = statement({
  name: "runs/park-unhandled",
  params: { afterMs: double, lanes: int, depth: int, limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with recursive ${READY_LANES},
  seen as materialized (
    select run.place, run.job, lane.pool
    from lane
    cross join lateral (
      select ctid as place, job
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
      select seen.place
      from seen
      join unhandled using (job, pool)
    `)},
  ${park("handler")}
`,
})
