/** Pauses a schedule. Occurrences that come during the pause are skipped, not missed. */
import type { Done } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import { paused } from "../../engine/schedules/pausing.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { WhichSchedule } from "./which.ts"

export interface PauseScheduleRequest extends WhichSchedule {
  /** The pause ends by itself then; null: it lasts until a call resumes the schedule. */
  readonly until: InstantMs | null
  /** Parks the runs that were made and that no worker has claimed. */
  readonly isHolding: boolean
}

/** The answer is whether this made a difference. */
export function pauseSchedule(runtime: Runtime, request: PauseScheduleRequest): Promise<Done<boolean>> {
  const { name, tenant, by, until, isHolding } = request
  return change(runtime, { name, tenant, by, action: "schedule.pause" }, (row) => {
    assertCan(row, "pause", "pause")
    // The latest call counts, also for a pause that is over and that no tick has ended yet.
    if (row.state === "paused" && row.resume_at === until && !isHolding) return undefined
    const at = row.state === "paused" ? (row.paused_at ?? row.cursor) : Math.floor(row.now_ms)
    return { ...paused(row, at, until, by), queued: isHolding ? "hold" : undefined }
  })
}
