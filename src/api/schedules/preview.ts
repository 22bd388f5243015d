/** Previews a schedule without a database: its dates, its words and its warnings. */
import { assertOptions, date, object } from "../../options/check.ts"
import type { MisnamedOfSchedule } from "../../options/mistake.ts"
import { wallClock } from "../../runtime/system.ts"
import { type PreviewOptions, previewOf, type SchedulePreview } from "../../schedule/preview.ts"
import { readSchedule } from "../../schedule/schedule.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import { toDate } from "../../time/instant.ts"

/**
 * Shows when a schedule happens, as dates and in words, with warnings about likely mistakes.
 *
 * Works offline and synchronously. `timeZone: "local"` means the zone of this machine.
 *
 * @example
 * previewSchedule({ cron: "30 2 * * *", timeZone: "Europe/Oslo", from: "2026-03-28T12:00Z", count: 2 })
 * // occurrences: 2026-03-29T01:30Z (03:30, because 02:30 does not exist), 2026-03-30T00:30Z
 */
export function previewSchedule(
  options: ScheduleSpec & PreviewOptions & MisnamedOfSchedule,
): SchedulePreview {
  return previewOf(withLocalZone(options), wallClock.nowMs())
}

/** The first occurrence after `after`. `undefined` if there is none. For `afterCompletion`, `after` is a run's end. */
export function nextOccurrence(spec: ScheduleSpec, after: Date): Date | undefined {
  assertOptions("nextOccurrence", { after }, object({ after: date }))
  const next = readSchedule(withLocalZone(spec)).next(after.getTime())
  return next === undefined ? undefined : toDate(next)
}

function withLocalZone<Spec extends ScheduleSpec>(spec: Spec): Spec {
  const isLocal = typeof spec === "object" && spec !== null && "timeZone" in spec && spec.timeZone === "local"
  return isLocal ? { ...spec, timeZone: wallClock.timeZone() } : spec
}
