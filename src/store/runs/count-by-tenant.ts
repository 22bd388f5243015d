import { text } from "../codec.ts"
import { DEAD_WALK, endedOf, LIVE_WALK } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of one tenant meet a filter, up to a limit in each store.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more.
 * Locks: none. Index: the primary keys of runs and dead_letters, and attempts_by_tenant (tenant, run)
 * of the days between the bounds, backwards.
 */
export const countRunsByTenant = statement({
  name: "runs/count-by-tenant",
  params: { ...COUNTING_PARAMS, value: text },
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({ live: LIVE_WALK, dead: DEAD_WALK, ended: endedOf("tenant") }),
})
