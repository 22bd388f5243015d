import { text } from "../codec.ts"
import { DEAD_WALK, endedOf, LIVE_WALK } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids of filtered runs of one job, newest first in each store. Live runs and dead letters are walked.
 *
 * Guarantee: one snapshot, so a run that changes its store is in one of them. No store is read further than the budget.
 * Locks: none. Index: the primary keys of runs and dead_letters, and attempts_by_job (job, run) of the
 * days between the bounds, backwards.
 */
export const listRunsByJob = statement({
  name: "runs/list-by-job",
  params: { ...LISTING_PARAMS, value: text },
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({ live: LIVE_WALK, dead: DEAD_WALK, ended: endedOf("job") }),
})
