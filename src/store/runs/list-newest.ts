import { DEAD_WALK, ENDED_WALK, LIVE_WALK } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids of filtered runs in all stores, newest first in each, by walking the ids.
 *
 * Guarantee: one snapshot, so a run that changes its store is in one of them. No store is read further than the budget.
 * Locks: none. Index: the primary keys of runs and dead_letters, and attempts_by_run (run) of the days between the
 * bounds, backwards.
 */
export const listNewestRuns = statement({
  name: "runs/list-newest",
  params: LISTING_PARAMS,
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({ live: LIVE_WALK, dead: DEAD_WALK, ended: ENDED_WALK }),
})
