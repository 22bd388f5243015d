/** Cancels a schedule for good. Its row and its ledger stay, and so do its runs without `cancelsQueued`. */
import type { OperationResult } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { WhichSchedule } from "./which.ts"

export interface CancelScheduleRequest extends WhichSchedule {
  /** Also cancels the runs of the schedule that are not running. */
  readonly cancelsQueued: boolean
}

/** The answer says whether the call cancelled the schedule. */
export function cancelSchedule(
  runtime: Runtime,
  request: CancelScheduleRequest,
): Promise<OperationResult<boolean>> {
  const { name, tenant, by, cancelsQueued } = request
  return change(runtime, { name, tenant, by, action: "schedule.cancel" }, (row) => {
    if (row.state === "cancelled") return undefined
    const cause = JSON.stringify(by)
    const cancelled = { ...row, state: "cancelled", paused_at: null, resume_at: null, cause }
    const queued = cancelsQueued ? "cancel" : undefined
    return { row: cancelled, cursor: row.cursor, next: undefined, queued }
  })
}
