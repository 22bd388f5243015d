/** Resumes a schedule after a pause, or after a fault that has set it aside. */
import type { OperationResult } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import { resumed } from "../../engine/schedules/pausing.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { WhichSchedule } from "./which.ts"

export interface ResumeScheduleRequest extends WhichSchedule {
  /** Makes up for the occurrences of the pause. `undefined` skips them. */
  readonly misfire: "latest" | "all" | undefined
}

/** The answer says whether the call resumed the schedule. It is false if the schedule is active. */
export function resumeSchedule(
  runtime: Runtime,
  request: ResumeScheduleRequest,
): Promise<OperationResult<boolean>> {
  const { name, tenant, by, misfire } = request
  const asked = misfire && { misfire }
  return change(runtime, { name, tenant, by, action: "schedule.resume", asked }, (row) => {
    if (row.state === "active") return undefined
    assertCan(row, "resume", "resume")
    return resumed(row, misfire)
  })
}
