import { list, text } from "../codec.ts"
import { counted, DEAD_WALK, endedOf, liveOf } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of these schedules meet a filter, up to a limit in each store.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more. Locks: none.
 * Index: runs_by_schedule, the primary key of dead_letters, and attempts_by_occurrence (schedule, occurrence) where
 * schedule is not null of the days between the bounds.
 */
export const countRunsBySchedule = statement({
  name: "runs/count-by-schedule",
  params: { ...COUNTING_PARAMS, ofSchedules: list(text) },
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({
    live: counted("live", liveOf("ofSchedules", "schedule = wanted.value")),
    dead: DEAD_WALK,
    ended: counted("ended", endedOf("ofSchedules", "schedule = wanted.value")),
  }),
})
