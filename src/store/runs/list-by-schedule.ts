import { text } from "../codec.ts"
import { DEAD_WALK, endedOf, LIVE_OF_SCHEDULE } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids of filtered runs of one schedule, newest first in each store. Dead letters are walked.
 *
 * Guarantee: one snapshot, so a run that changes its store is in one of them. No store is read further than the budget.
 * Locks: none. Index: runs_by_schedule, the primary key of dead_letters, and attempts_by_schedule
 * (schedule, run) of the days between the bounds, backwards.
 */
export const listRunsBySchedule = statement({
  name: "runs/list-by-schedule",
  params: { ...LISTING_PARAMS, value: text },
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({ live: LIVE_OF_SCHEDULE, dead: DEAD_WALK, ended: endedOf("schedule") }),
})
