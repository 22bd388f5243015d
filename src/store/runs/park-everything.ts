import { int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { park } from "./parking.ts"

/**
 * Parks up to `limit` ready runs while everything is paused.
 *
 * Guarantee: a parked run loses its rank and gives up its places under limits. Everything else stays.
 * Locks: the rows it parks, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued', and the primary key of run_limits.
 */
export const parkEverything = statement({
  name: "runs/park-everything",
  params: { limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with held as materialized (
    select ctid as tuple, {schema}.state(run) as state
    from {runs} as run
    where stage = 'queued' and lease is null and exists (select from {pauses} where kind = 'everything')
    limit @limit
    for no key update skip locked
  ),
  ${park("pause")}
`,
})
