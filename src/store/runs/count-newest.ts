import { DEAD_WALK, ENDED_WALK, LIVE_WALK } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs meet a filter, up to a limit in each store, by walking the ids.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more. Locks: none.
 * Index: the primary keys of runs and dead_letters, and attempts_by_run (run) of the days between the bounds,
 * backwards.
 */
export const countNewestRuns = statement({
  name: "runs/count-newest",
  params: COUNTING_PARAMS,
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({ live: LIVE_WALK, dead: DEAD_WALK, ended: ENDED_WALK }),
})
