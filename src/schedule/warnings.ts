/** Warnings about schedules that may not do what their author meant. */
import type { Misfire } from "../job/schedule-policy.ts"
import { DAY_MS } from "../time/civil.ts"
import type { CronExpression } from "../time/cron-expression.ts"
import { parseDuration } from "../time/duration.ts"
import { formatInstant, type InstantMs, toDate } from "../time/instant.ts"
import type { NumberSet } from "../time/number-set.ts"
import type { WallPattern } from "../time/wall-pattern.ts"
import type { Change, Zone } from "../time/zone.ts"
import { cronWords } from "./cron-words.ts"
import type { Schedule } from "./schedule.ts"
import { isAbbreviation } from "./zones.ts"

/** The kinds of warnings. */
export type WarningCode =
  /** Clocks go forward: an occurrence fires later than its local time. */
  | "dst-shifted"
  /** Clocks go forward: an occurrence does not fire. */
  | "dst-skipped"
  /** Clocks go back: an occurrence fires twice. */
  | "dst-doubled"
  /** Clocks go back: a local time comes twice, and the occurrence fires once. */
  | "dst-once"
  /** Day of month and day of week are both restricted: either is enough. */
  | "either-or-days"
  /** Some months lack the days of month, so the schedule does not fire in them. */
  | "months-passed-over"
  /** The step does not divide its field, so the last interval is shorter. */
  | "uneven-step"
  /** The zone is an abbreviation. */
  | "zone-abbreviation"
  /** A run for a missed occurrence may be older than `startWithin` when it is made, so it expires at once. */
  | "expires-at-once"
  /** An interval of whole days of elapsed time. Its local time changes when clocks change. */
  | "civil-interval"

/** Something in a schedule that its author may not have meant. */
export interface ScheduleWarning {
  /** The kind of warning. */
  readonly code: WarningCode
  /** The warning as a sentence. */
  readonly message: string
  /** The affected instant, if there is one. */
  readonly at?: Date
}

const YEAR_MS = 366 * DAY_MS

/** The warnings of a schedule. With `from`, also those about clock changes in the following year. */
export function scheduleWarnings(schedule: Schedule, from?: InstantMs): ScheduleWarning[] {
  return [
    ...cronWarnings(schedule),
    ...intervalWarnings(schedule),
    ...zoneWarnings(schedule),
    ...(from === undefined ? [] : dstWarnings(schedule, from)),
  ]
}

/** Warns if runs for missed occurrences may be older than their `startWithin`. */
export function policyWarnings(
  { mode, withinMs }: Misfire,
  startWithinMs: number | undefined,
): ScheduleWarning[] {
  if (mode !== "all" || startWithinMs === undefined || (withinMs !== null && withinMs <= startWithinMs))
    return []
  const message =
    "With misfire `all`, the run of an occurrence that is late by more than `startWithin` expires at once. " +
    "Remove `startWithin`, or set a misfire `within` that is no longer than it."
  return [{ code: "expires-at-once", message }]
}

function cronWarnings({ cron }: Schedule): ScheduleWarning[] {
  if (cron === undefined) return []
  const warnings: ScheduleWarning[] = []
  const { days } = cron
  if (days.monthDayRestricted && days.weekdayRestricted && !days.both) {
    const message =
      `Day of month and day of week are both restricted, so either is enough: ${cronWords(cron)}. ` +
      'Put a "+" before the weekdays to require both.'
    warnings.push({ code: "either-or-days", message })
  }
  warnings.push(...passedOverWarnings(cron))
  const fields = {
    second: cron.seconds,
    minute: cron.minutes,
    hour: cron.hours,
    "day of month": days.monthDays,
    month: days.months,
    "day of week": days.weekdays,
  }
  for (const [name, set] of Object.entries(fields)) {
    const step = unevenStep(set)
    // Two values may be a list, not a step.
    if (step === undefined || (set.size === 2 && !cron.text.includes(`*/${step}`))) continue
    const last = set.values[set.values.length - 1]
    const message =
      `A step of ${step} does not divide the ${name} field evenly: ` +
      `after ${last} it starts again at ${set.min}.`
    warnings.push({ code: "uneven-step", message })
  }
  return warnings
}

const LAST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const MONTH_NAMES = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
]

/** Warns about months that have none of the days of month. */
function passedOverWarnings({ days }: CronExpression): ScheduleWarning[] {
  const { monthDays, monthDayRules, monthDayRestricted, weekdayRestricted, both, months } = days
  const first = monthDays.values[0]
  const hasOthers = monthDayRules.length > 0 || (weekdayRestricted && !both)
  if (!monthDayRestricted || hasOthers || first === undefined || first < 29) return []
  const short = months.values.filter((month) => (LAST_DAYS[month - 1] ?? 31) < first)
  const isLeapDay = first === 29 && months.values.includes(2)
  if (short.length === 0 && !isLeapDay) return []
  const names = isLeapDay ? ["February"] : short.map((month) => MONTH_NAMES[month - 1] ?? "")
  const which = isLeapDay ? "February of most years" : listed(names)
  const message =
    `The schedule does not fire in ${which}: ${names.length === 1 ? "it has" : "these months have"} no day ${first}. ` +
    'For the last day of every month write "L".'
  return [{ code: "months-passed-over", message }]
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ""
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`
}

/** The step of a set that covers its field and does not divide it evenly. */
function unevenStep({ values, min, max }: NumberSet): number | undefined {
  const [first, second] = values
  if (first !== min || second === undefined) return undefined
  const step = second - first
  const last = values[values.length - 1] ?? max
  const isStepped = values.every((value, index) => value === min + index * step)
  return step > 1 && isStepped && last + step > max && (max - min + 1) % step !== 0 ? step : undefined
}

function intervalWarnings({ spec }: Schedule): ScheduleWarning[] {
  if (!("every" in spec) || typeof spec.every === "object") return []
  const days = (parseDuration(spec.every) ?? 0) / DAY_MS
  if (days < 1 || !Number.isInteger(days)) return []
  const message =
    `${days === 1 ? "A day" : `${days} days`} of elapsed time: after a clock change the local time moves by an hour. ` +
    `To keep the local time, write { days: ${days}, at: "09:00" } with a timeZone.`
  return [{ code: "civil-interval", message }]
}

function zoneWarnings({ spec, cron }: Schedule): ScheduleWarning[] {
  const name = cron?.timeZone ?? ("timeZone" in spec ? spec.timeZone : undefined)
  if (name === undefined || !isAbbreviation(name)) return []
  const message = `"${name}" is a zone abbreviation and may ignore clock changes. Use a city, as in "America/New_York".`
  return [{ code: "zone-abbreviation", message }]
}

function dstWarnings(schedule: Schedule, from: InstantMs): ScheduleWarning[] {
  const { wall, zone } = schedule
  if (wall === undefined) return []
  return zone
    .changesIn(from + 1, from + YEAR_MS)
    .flatMap((change) =>
      change.size > 0 ? gapWarning(schedule, wall, change) : foldWarning(schedule, wall, change),
    )
    .filter(({ at }) => at === undefined || schedule.covers(at.getTime()))
}

function gapWarning({ zone, dst }: Schedule, wall: WallPattern, change: Change): ScheduleWarning[] {
  const before = readingBefore(zone, change)
  const reading = wall.next(before)
  // A schedule that fires in every hour does not change visibly.
  if (reading === undefined || reading >= before + change.size || (dst.gap === "shift" && wall.everyHour))
    return []
  const base = `On ${dateOf(reading)} clocks in ${zone.id} go forward and ${timeOf(reading)} does not exist`
  if (dst.gap === "skip")
    return [{ code: "dst-skipped", message: `${base}: the occurrence is skipped.`, at: toDate(change.at) }]
  const at = dst.gap === "next" ? change.at : change.at + (reading - before)
  const shownAt = timeOf(at + zone.offsetAt(at))
  return [{ code: "dst-shifted", message: `${base}: the occurrence fires at ${shownAt}.`, at: toDate(at) }]
}

function foldWarning({ zone, dst }: Schedule, wall: WallPattern, change: Change): ScheduleWarning[] {
  const before = readingBefore(zone, change)
  const reading = wall.next(before + change.size)
  if (reading === undefined || reading >= before) return []
  const second = change.at + (reading - before - change.size)
  const base = `On ${dateOf(reading)} clocks in ${zone.id} go back and ${timeOf(reading)} comes twice`
  const twice = dst.fold === "both" || (dst.fold === "auto" && wall.everyHour)
  if (twice && wall.everyHour) return []
  if (twice)
    return [{ code: "dst-doubled", message: `${base}: the occurrence fires both times.`, at: toDate(second) }]
  return [
    {
      code: "dst-once",
      message: `${base}: the occurrence fires the first time only.`,
      at: toDate(second + change.size),
    },
  ]
}

/** The local time at the moment of the change, by the old offset. */
function readingBefore(zone: Zone, { at, size }: Change): number {
  return at + zone.offsetAt(at) - size
}

function dateOf(wall: number): string {
  return formatInstant(wall).slice(0, 10)
}

function timeOf(wall: number): string {
  const text = formatInstant(wall).slice(11, 19)
  return text.endsWith(":00") ? text.slice(0, 5) : text
}
