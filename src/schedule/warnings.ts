/** What a schedule may do that its author did not mean. */
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
  /** A clock set forward: the occurrence happens later than its reading says. */
  | "dst-shifted"
  /** A clock set forward: the occurrence does not happen. */
  | "dst-skipped"
  /** A clock set back: the occurrence happens twice. */
  | "dst-doubled"
  /** A clock set back: the reading comes twice, the occurrence once. */
  | "dst-once"
  /** Day of month and day of week are both given: either is enough. */
  | "either-or-days"
  /** The days of month do not exist in every month: nothing happens in the others. */
  | "months-passed-over"
  /** The step does not divide its field, so the last interval is shorter. */
  | "uneven-step"
  /** The zone is an abbreviation. */
  | "zone-abbreviation"
  /** A run that makes up for a missed occurrence is later than `startWithin` when it is made. */
  | "expires-at-once"
  /** An interval of whole days of elapsed time, which wanders over the clock when the clock is changed. */
  | "civil-interval"

/** Something in a schedule that its author may not have meant. */
export interface ScheduleWarning {
  /** What kind of warning it is. */
  readonly code: WarningCode
  /** The warning, for people. */
  readonly message: string
  /** The instant that it is about, if it is about one. */
  readonly at?: Date
}

const YEAR_MS = 366 * DAY_MS

/** The warnings of a schedule; those about clock changes of the year after `from`, if it is given. */
export function scheduleWarnings(schedule: Schedule, from?: InstantMs): ScheduleWarning[] {
  return [
    ...cronWarnings(schedule),
    ...intervalWarnings(schedule),
    ...zoneWarnings(schedule),
    ...(from === undefined ? [] : dstWarnings(schedule, from)),
  ]
}

/** Runs that make up for what was missed longer ago than they may start have no time to. */
export function policyWarnings(
  { mode, withinMs }: Misfire,
  startWithinMs: number | undefined,
): ScheduleWarning[] {
  if (mode !== "all" || startWithinMs === undefined || (withinMs !== null && withinMs <= startWithinMs))
    return []
  const message =
    "With misfire `all`, the run of an occurrence that was missed by more than `startWithin` expires as soon as it is " +
    "made. Leave `startWithin` out, or give the misfire a `within` that is no longer."
  return [{ code: "expires-at-once", message }]
}

function cronWarnings({ cron }: Schedule): ScheduleWarning[] {
  if (cron === undefined) return []
  const warnings: ScheduleWarning[] = []
  const { days } = cron
  if (days.monthDayRestricted && days.weekdayRestricted && !days.both) {
    const message = `Day of month and day of week are both given, so either is enough: ${cronWords(cron)}. Put a "+" before the weekdays to ask for both.`
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
    // Two values may be a list that happens to look like a step.
    if (step === undefined || (set.size === 2 && !cron.text.includes(`*/${step}`))) continue
    const last = set.values[set.values.length - 1]
    const message = `A step of ${step} does not divide the ${name} field: after ${last} it begins again at ${set.min}.`
    warnings.push({ code: "uneven-step", message })
  }
  return warnings
}

const LAST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const MONTH_NAMES = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
]

/** Months that have none of the days, where no other rule gives them one. */
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
    `Nothing happens in ${which}: ${names.length === 1 ? "it has" : "these months have"} no day ${first}. ` +
    'For the last day of every month write "L".'
  return [{ code: "months-passed-over", message }]
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ""
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`
}

/** The step of a set that runs from the smallest value to the end of its field and leaves a rest. */
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
  const message = `${days === 1 ? "A day" : `${days} days`} of elapsed time: after a clock change this happens an hour earlier or later on the wall. For the same time every day write { days: ${days}, at: "09:00" } with a timeZone.`
  return [{ code: "civil-interval", message }]
}

function zoneWarnings({ spec, cron }: Schedule): ScheduleWarning[] {
  const name = cron?.timeZone ?? ("timeZone" in spec ? spec.timeZone : undefined)
  if (name === undefined || !isAbbreviation(name)) return []
  const message = `"${name}" is an abbreviation, kept for old programs; it may ignore clock changes. Use a city, as in "America/New_York".`
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
  // A schedule of every hour goes on an hour of elapsed time later anyway: nothing that anyone would notice.
  if (reading === undefined || reading >= before + change.size || (dst.gap === "shift" && wall.everyHour))
    return []
  const base = `On ${dateOf(reading)} the clock of ${zone.id} is set forward and ${timeOf(reading)} does not exist`
  if (dst.gap === "skip")
    return [{ code: "dst-skipped", message: `${base}: nothing happens then.`, at: toDate(change.at) }]
  const at = dst.gap === "next" ? change.at : change.at + (reading - before)
  const shownAt = timeOf(at + zone.offsetAt(at))
  return [{ code: "dst-shifted", message: `${base}: it happens at ${shownAt}.`, at: toDate(at) }]
}

function foldWarning({ zone, dst }: Schedule, wall: WallPattern, change: Change): ScheduleWarning[] {
  const before = readingBefore(zone, change)
  const reading = wall.next(before + change.size)
  if (reading === undefined || reading >= before) return []
  const second = change.at + (reading - before - change.size)
  const base = `On ${dateOf(reading)} the clock of ${zone.id} is set back and ${timeOf(reading)} comes twice`
  const twice = dst.fold === "both" || (dst.fold === "auto" && wall.everyHour)
  if (twice && wall.everyHour) return []
  if (twice) return [{ code: "dst-doubled", message: `${base}: it happens both times.`, at: toDate(second) }]
  return [
    {
      code: "dst-once",
      message: `${base}: it happens the first time only.`,
      at: toDate(second + change.size),
    },
  ]
}

/** What the clock would have read at the moment of the change, had it not been changed. */
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
