/** Turns a schedule spec into a recurrence: its next, previous and counted occurrences. */
import { DEFAULTS } from "../defaults.ts"
import { CarillonError, type Fault, OptionsError } from "../errors.ts"
import { assertOptions } from "../options/check.ts"
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../time/civil.ts"
import { everyDays, everyMonths } from "../time/civil-interval.ts"
import { createCronDays } from "../time/cron-days.ts"
import type { CronExpression, Dialect } from "../time/cron-expression.ts"
import { parseCron } from "../time/cron-parse.ts"
import type { DayRule } from "../time/day-rule.ts"
import { parseDuration } from "../time/duration.ts"
import { type InstantMs, parseInstant } from "../time/instant.ts"
import { createInterval } from "../time/interval.ts"
import { numberSet } from "../time/number-set.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { createWallPattern, type WallPattern } from "../time/wall-pattern.ts"
import { UTC, type Zone } from "../time/zone.ts"
import { createZoned, type DstPolicy } from "../time/zoned.ts"
import { once, withinBounds, withoutDays } from "./bounds.ts"
import { readExclusions } from "./calendar.ts"
import { parseCivilDate, parseCivilDateTime, parseCivilTime } from "./civil-text.ts"
import { moveExcludedDays } from "./exclude.ts"
import type {
  AfterCompletionSpec,
  CivilInterval,
  CivilIntervalSpec,
  CronSpec,
  IntervalSpec,
  OnceSpec,
  ScheduleSpec,
} from "./spec.ts"
import { specCheck } from "./spec-check.ts"
import { zoneNamed } from "./zones.ts"

export interface Schedule extends Recurrence {
  readonly spec: ScheduleSpec
  readonly zone: Zone
  /** The local-time pattern, for schedules with a zone. */
  readonly wall: WallPattern | undefined
  readonly dst: DstPolicy
  /** The parsed cron expression, if the spec has one. */
  readonly cron: CronExpression | undefined
  /** Whether `startAt`, `endAt` and `exclude` allow an occurrence at this instant. */
  readonly covers: (at: InstantMs) => boolean
}

const scheduleCheck = specCheck()

/** Reads a spec. Throws an `OptionsError` with every fault, a `CronError`, or `SCHEDULE_NEVER_FIRES`. */
export function readSchedule(spec: ScheduleSpec): Schedule {
  assertOptions("schedule", spec, scheduleCheck)
  const schedule = buildOrExplain(spec)
  if (!("afterCompletion" in spec) && schedule.next(EARLIEST_MS) === undefined) throw neverFires(spec)
  return schedule
}

/** A single fault keeps its own error class, such as `CronError` with its position. */
function buildOrExplain(spec: ScheduleSpec): Schedule {
  try {
    return build(spec)
  } catch (error) {
    const faults = timeFaults(spec)
    throw faults.length > 1 ? new OptionsError("schedule", faults) : error
  }
}

/** The faults of the cron expression and the time zone, to report together with all others. */
export function timeFaults(spec: object): Fault[] {
  const { cron, dialect, timeZone } = spec as Partial<CronSpec>
  return [
    ...faultOf("cron", () => {
      if (typeof cron === "string") parseCron(cron, isDialect(dialect) ? dialect : DEFAULTS.dialect)
    }),
    ...faultOf("timeZone", () => {
      if (typeof timeZone === "string") zoneNamed(timeZone)
    }),
  ]
}

function isDialect(value: unknown): value is Dialect {
  return value === "posix" || value === "vixie" || value === "extended"
}

function faultOf(path: string, read: () => void): Fault[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error
    return [{ path, message: error.message }]
  }
}

/**
 * Whether new time zone data can change its times. Not in UTC, and not for intervals and instants without excluded
 * dates.
 */
export function dependsOnZoneData({ spec, zone, wall }: Schedule): boolean {
  const looksAtDates = "exclude" in spec && (spec.exclude ?? []).length > 0
  return zone !== UTC && (wall !== undefined || looksAtDates)
}

/** Before every occurrence: schedules start in 1970. */
const EARLIEST_MS = -DAY_MS

function build(spec: ScheduleSpec): Schedule {
  if ("cron" in spec) return buildCron(spec)
  if ("at" in spec) return buildOnce(spec)
  if ("afterCompletion" in spec) return buildAfterCompletion(spec)
  if (typeof spec.every === "object") return buildCivil(spec as CivilIntervalSpec)
  return buildInterval(spec as IntervalSpec)
}

function buildCron(spec: CronSpec): Schedule {
  const cron = parseCron(spec.cron, spec.dialect ?? DEFAULTS.dialect)
  if (cron.timeZone !== undefined && spec.timeZone !== undefined) {
    const message =
      `The cron expression sets the zone ${cron.timeZone}, and \`timeZone\` sets ${spec.timeZone}. ` +
      "Set one of them."
    throw new CarillonError("OPTIONS_INVALID", message)
  }
  const zone = zoneNamed(cron.timeZone ?? spec.timeZone ?? DEFAULTS.timeZone)
  return { ...buildZoned(spec, zone, createCronDays(cron.days), cron), cron }
}

function buildCivil(spec: CivilIntervalSpec): Schedule {
  const { every } = spec
  const timeMs = parseCivilTime(every.at ?? "00:00") ?? 0
  return buildZoned(spec, zoneNamed(spec.timeZone ?? DEFAULTS.timeZone), civilDays(every), timeOfDay(timeMs))
}

function civilDays(every: CivilInterval): DayRule {
  const from = parseCivilDate(every.from ?? "1970-01-01") ?? 0
  if (every.months !== undefined) return everyMonths(every.months, from)
  return everyDays((every.days ?? 0) + 7 * (every.weeks ?? 0), from)
}

type Times = Parameters<typeof createWallPattern>[1]

function buildZoned(
  spec: CronSpec | CivilIntervalSpec | OnceSpec,
  zone: Zone,
  days: DayRule,
  times: Times,
): Schedule {
  const { onExcluded = "skip" } = spec
  const isExcluded = readExclusions(spec)
  const isMoved = isExcluded !== undefined && onExcluded !== "skip"
  const wall = createWallPattern(isMoved ? moveExcludedDays(days, isExcluded, onExcluded) : days, times)
  const dst = dstOf(spec)
  const zoned = createZoned(wall, zone, dst)
  // Checks the date of the instant: an offset change may have moved it into an excluded day.
  const kept = isExcluded && !isMoved ? withoutDays(zoned, zone, isExcluded) : zoned
  const { startAt, endAt } = boundsOf(spec)
  const covers = (at: InstantMs) => {
    const isFree = isMoved || !isExcluded?.(Math.floor((at + zone.offsetAt(at)) / DAY_MS))
    return isFree && at >= (startAt ?? at) && (endAt === undefined || at < endAt)
  }
  return { ...withinBounds(kept, startAt, endAt), spec, zone, wall, dst, cron: undefined, covers }
}

function buildInterval(spec: IntervalSpec): Schedule {
  const zone = zoneNamed(spec.timeZone ?? DEFAULTS.timeZone)
  const { startAt, endAt } = boundsOf(spec)
  const periodMs = parseDuration(spec.every) ?? 0
  const anchorMs = (spec.anchor === "start" ? (startAt ?? 0) : 0) + (parseDuration(spec.offset) ?? 0)
  const isExcluded = readExclusions(spec)
  const interval = createInterval(periodMs, anchorMs)
  const kept = isExcluded ? withoutDays(interval, zone, isExcluded) : interval
  return {
    ...withinBounds(kept, startAt, endAt),
    spec,
    zone,
    ...timeless(),
  }
}

function buildOnce(spec: OnceSpec): Schedule {
  const zone = zoneNamed(spec.timeZone ?? DEFAULTS.timeZone)
  const instant = momentOf(spec.at)
  const wallMs = instant === undefined ? (parseCivilDateTime(spec.at) ?? 0) : instant + zone.offsetAt(instant)
  // Keeps the milliseconds, which a local-time pattern would drop.
  if (instant !== undefined && spec.exclude === undefined) {
    return { ...once(instant), spec, zone, ...timeless() }
  }
  const day = Math.floor(wallMs / DAY_MS)
  const oneDay: DayRule = {
    next: (from) => (from <= day ? day : undefined),
    previous: (from) => (from >= day ? day : undefined),
    count: (from, to) => (from <= day && day < to ? 1 : 0),
  }
  return buildZoned(spec, zone, oneDay, timeOfDay(wallMs - day * DAY_MS))
}

/** The next occurrence depends on the end of a run. `next` takes that end. */
function buildAfterCompletion(spec: AfterCompletionSpec): Schedule {
  const delayMs = parseDuration(spec.afterCompletion) ?? 0
  const { startAt, endAt } = boundsOf(spec)
  const next = (end: InstantMs) => {
    const due = Math.max(end + delayMs, startAt ?? Number.NEGATIVE_INFINITY)
    return endAt !== undefined && due >= endAt ? undefined : due
  }
  const zone = zoneNamed(DEFAULTS.timeZone)
  return {
    next,
    previous: () => undefined,
    count: () => 0,
    spec,
    zone,
    ...timeless(),
  }
}

/** The members of a schedule without a time of day. */
function timeless(): Pick<Schedule, "wall" | "dst" | "cron" | "covers"> {
  return { wall: undefined, dst: dstOf({}), cron: undefined, covers: () => true }
}

function timeOfDay(ms: number): Times {
  return {
    hours: numberSet([Math.floor(ms / HOUR_MS)], 0, 23),
    minutes: numberSet([Math.floor(ms / MINUTE_MS) % 60], 0, 59),
    seconds: numberSet([Math.floor(ms / SECOND_MS) % 60], 0, 59),
  }
}

function dstOf({ dst }: { readonly dst?: Partial<DstPolicy> }): DstPolicy {
  return { gap: dst?.gap ?? "shift", fold: dst?.fold ?? "auto" }
}

function boundsOf(spec: { startAt?: Date | string; endAt?: Date | string } | OnceSpec): {
  startAt: InstantMs | undefined
  endAt: InstantMs | undefined
} {
  return {
    startAt: "startAt" in spec ? momentOf(spec.startAt) : undefined,
    endAt: "endAt" in spec ? momentOf(spec.endAt) : undefined,
  }
}

function momentOf(value: Date | string | undefined): InstantMs | undefined {
  return typeof value === "string" ? parseInstant(value) : value?.getTime()
}

function neverFires(spec: ScheduleSpec): CarillonError {
  const what = "cron" in spec ? `Cron expression ${JSON.stringify(spec.cron)}` : "The schedule"
  return new CarillonError(
    "SCHEDULE_NEVER_FIRES",
    `${what} can never fire. Look for a day that does not exist, an \`endAt\` before the first time, ` +
      "a year that is over, or dates that are all excluded.",
  )
}
