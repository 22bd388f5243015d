import { text } from "../codec.ts"
import { DEAD_WALK, endedOf, LIVE_OF_SCHEDULE } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of one schedule meet a filter, up to a limit in each store.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more.
 * Locks: none. Index: runs_by_schedule, the primary key of dead_letters, and attempts_by_schedule
 * (schedule, run) of the days between the bounds, backwards.
 */
export const countRunsBySchedule = statement({
  name: "runs/count-by-schedule",
  params: { ...COUNTING_PARAMS, value: text },
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({ live: LIVE_OF_SCHEDULE, dead: DEAD_WALK, ended: endedOf("schedule") }),
})
