import { statement } from "../statement.ts"
import { COMPLETE_COLUMNS, COMPLETE_PARAMS, completing } from "./completing.ts"
import { SUCCEEDED } from "./schedule-ends.ts"

/**
 * Like runs/complete, for batches that contain runs of schedules: it also records in schedule_ends how they ended. A
 * statement of its own, because looking for the schedules costs every run of a batch something.
 *
 * Fence, guarantee: as in runs/complete.
 * Locks: the rows, in the order given, which must be the order of their ids. Then one row of schedule_ends for each
 * schedule, in the order of schedule ids.
 * Index: those of runs/complete, and the primary keys of schedule_ends and schedules.
 */
export const completeScheduledRuns = statement({
  name: "runs/complete-scheduled",
  params: COMPLETE_PARAMS,
  returns: COMPLETE_COLUMNS,
  plan: "hashed",
  sql: completing(`${SUCCEEDED},`),
})
