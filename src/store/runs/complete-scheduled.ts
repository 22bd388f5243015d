import { statement } from "../statement.ts"
import { COMPLETE_COLUMNS, COMPLETE_PARAMS, completing } from "./completing.ts"
import { SUCCEEDED } from "./schedule-ends.ts"

/**
 * The same as runs/complete, for batches with runs of schedules: keeps how those ended. Apart, because looking for them
 * costs every run something.
 *
 * Fence and guarantee: those of runs/complete.
 * Locks: the rows, in the order in which they are given, which has to be that of their ids; then one row of schedule_ends for each schedule, in the order of theirs.
 * Index: those of runs/complete, the primary keys of schedule_ends and schedules.
 */
export const completeScheduledRuns = statement({
  name: "runs/complete-scheduled",
  params: COMPLETE_PARAMS,
  returns: COMPLETE_COLUMNS,
  plan: "hashed",
  sql: completing(`${SUCCEEDED},`),
})
