import { int, json, nullable } from "../codec.ts"
import { statement } from "../statement.ts"
import { frontOfLanes, park, READY_LANES } from "./parking.ts"

/**
 * Parks up to `limit` ready runs of paused tenants, so that claims do not have to skip them.
 *
 * Search: reads the first `depth` runs of each of up to `lanes` lanes; see `frontOfLanes`.
 * Guarantee: a parked run loses its rank and gives up its places under limits. Everything else stays.
 * Locks: the rows it parks, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_queued (pool, solo, priority desc, rank) where stage = 'queued', and the primary key of run_limits.
 */
export const parkPausedTenants = statement({
  name: "runs/park-paused-tenants",
  params: { lanes: int, depth: int, limit: int },
  returns: { runs: int, found: int, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with recursive ${READY_LANES},
  ${frontOfLanes("tenant")},
  ${park("tenant")}
`,
})
