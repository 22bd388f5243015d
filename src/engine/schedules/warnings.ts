/** Tells what a schedule may do that its author did not mean, when it is made or changed. */
import type { Events } from "../../observe/events.ts"
import { readSchedule } from "../../schedule/schedule.ts"
import { policyWarnings, scheduleWarnings } from "../../schedule/warnings.ts"
import { scheduledOf } from "./decided.ts"

type WarnedRow = Parameters<typeof scheduledOf>[0] & { readonly name: string }

/** Not what clock changes do: that is in the preview, and comes twice a year. */
export function tellScheduleWarnings(events: Events, row: WarnedRow): void {
  const { startWithinMs } = JSON.parse(row.settings) as { startWithinMs?: number }
  const schedule = readSchedule(JSON.parse(row.spec))
  const { misfire } = scheduledOf(row).policy
  const warnings = [...scheduleWarnings(schedule), ...policyWarnings(misfire, startWithinMs)]
  if (warnings.length > 0)
    events.emit({ type: "schedule.warned", schedule: row.id, name: row.name, warnings })
}
