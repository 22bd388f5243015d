/** The event about what a schedule may do that its author did not intend. Told when it is created or edited. */

import { scheduledOf, scheduleOf } from "../../engine/schedules/decided.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import { policyWarnings, scheduleWarnings } from "../../schedule/warnings.ts"

type WarnedRow = Parameters<typeof scheduledOf>[0] & { readonly name: string }

/** It leaves out what clock changes do: they come twice a year, and the preview shows them. */
export function warningsAbout(row: WarnedRow): CarillonEvent[] {
  const { startWithinMs } = JSON.parse(row.settings) as { startWithinMs?: number }
  const { misfire } = scheduledOf(row).policy
  const warnings = [...scheduleWarnings(scheduleOf(row)), ...policyWarnings(misfire, startWithinMs)]
  const { id, name } = row
  return warnings.length === 0 ? [] : [{ type: "schedule.warned", schedule: id, name, warnings }]
}
