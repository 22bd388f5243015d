/** Pauses a schedule. Occurrences during the pause count as skipped, not as missed. */
import type { OperationResult } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import { paused } from "../../engine/schedules/pausing.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { WhichSchedule } from "./which.ts"

export interface PauseScheduleRequest extends WhichSchedule {
  /** When the pause ends by itself. Null: it lasts until a call resumes the schedule. */
  readonly until: InstantMs | null
  /** Parks the existing runs that no worker has claimed. */
  readonly isHolding: boolean
}

/** The answer says whether the call changed anything. */
export function pauseSchedule(
  runtime: Runtime,
  request: PauseScheduleRequest,
): Promise<OperationResult<boolean>> {
  const { name, tenant, by, until, isHolding } = request
  return change(runtime, { name, tenant, by, action: "schedule.pause" }, (row) => {
    assertCan(row, "pause", "pause")
    // The latest call counts, even if the pause is over and no tick has ended it yet.
    if (row.state === "paused" && row.resume_at === until && !isHolding) return undefined
    const at = row.state === "paused" ? (row.paused_at ?? row.cursor) : Math.floor(row.now_ms)
    return { ...paused(row, at, until, by), queued: isHolding ? "hold" : undefined }
  })
}
