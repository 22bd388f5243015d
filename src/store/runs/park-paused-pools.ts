import { int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { park } from "./parking.ts"

/**
 * Parks up to `limit` ready runs of paused pools, so that they are out of the way of claims.
 *
 * Guarantee: a run keeps everything but its place in the order; under limits it gives that place up, too.
 * Locks: the rows it moves, and their places under limits; rows that others hold are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued'; the primary key of run_limits.
 */
export const parkPausedPools = statement({
  name: "runs/park-paused-pools",
  params: { limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with held as materialized (
    select ctid as place, {schema}.state(run) as state
    from {runs} as run
    where stage = 'queued' and lease is null and pool = any (array(select name from {pauses} where kind = 'pool'))
    limit @limit
    for no key update skip locked
  ),
  ${park("pause")}
`,
})
