/** Cancels a schedule for good. Its row, its ledger and, unless asked otherwise, its runs stay. */
import type { Done } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { WhichSchedule } from "./which.ts"

export interface CancelScheduleRequest extends WhichSchedule {
  /** Cancels also its runs that are not running. */
  readonly cancelsQueued: boolean
}

/** The answer is whether this made a difference. */
export function cancelSchedule(runtime: Runtime, request: CancelScheduleRequest): Promise<Done<boolean>> {
  const { name, tenant, by, cancelsQueued } = request
  return change(runtime, { name, tenant, by, action: "schedule.cancel" }, (row) => {
    if (row.state === "cancelled") return undefined
    const cause = JSON.stringify(by)
    const cancelled = { ...row, state: "cancelled", paused_at: null, resume_at: null, cause }
    const queued = cancelsQueued ? "cancel" : undefined
    return { row: cancelled, cursor: row.cursor, next: undefined, queued }
  })
}
