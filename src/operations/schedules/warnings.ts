/** The event that warns about a schedule that may not do what its author intends. Emitted on create and edit. */

import { scheduledOf, scheduleOf } from "../../engine/schedules/decisions.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import { policyWarnings, scheduleWarnings } from "../../schedule/warnings.ts"

type WarnedRow = Parameters<typeof scheduledOf>[0] & { readonly name: string }

/** Leaves out warnings about clock changes: they come twice a year, and the preview shows them. */
export function warningsAbout(row: WarnedRow): CarillonEvent[] {
  const { startWithinMs } = JSON.parse(row.settings) as { startWithinMs?: number }
  const { misfire } = scheduledOf(row).policy
  const warnings = [...scheduleWarnings(scheduleOf(row)), ...policyWarnings(misfire, startWithinMs)]
  const { id, name } = row
  return warnings.length === 0 ? [] : [{ type: "schedule.warned", schedule: id, name, warnings }]
}
