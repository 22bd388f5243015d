/** Schedule specs, as users write them. */
import type { Dialect } from "../time/cron-expression.ts"
import type { Duration } from "../time/duration.ts"
import type { DstPolicy } from "../time/zoned.ts"
import type { OnExcluded } from "./exclude.ts"

/** When a schedule fires: by cron expression, at intervals, by the calendar, once, or after the last run. */
export type ScheduleSpec = CronSpec | IntervalSpec | CivilIntervalSpec | OnceSpec | AfterCompletionSpec

interface Limits {
  /** The schedule fires at or after this time. */
  readonly startAt?: Date | string
  /** The schedule fires before this time. */
  readonly endAt?: Date | string
  /** The schedule completes after this many runs. */
  readonly maxRuns?: number
  /**
   * Days on which the schedule does not fire, as dates in its zone: `"2026-12-25"`, a range of dates, the name of one
   * of the `calendars`, or a cron expression with `*` as minute and hour (`"* * * * 0"`).
   */
  readonly exclude?: readonly Exclusion[]
  /** Named lists of days, for use in `exclude`. */
  readonly calendars?: Readonly<Record<string, readonly (string | DateRange)[]>>
  /**
   * What happens to an occurrence on an excluded day. `"skip"` drops it. `"next-day"` and `"previous-day"` move it to
   * the nearest day in that direction that is not excluded, at the same time.
   *
   * @default "skip"
   */
  readonly onExcluded?: OnExcluded
  /**
   * The longest delay of an occurrence. The delay of one occurrence is pseudo-random and always the same. It never
   * reaches the next occurrence.
   */
  readonly jitter?: Duration
  /** The longest delay of all occurrences together. Each schedule has its own, constant delay up to this. */
  readonly spread?: Duration
}

interface Zoned {
  /**
   * The time zone of the schedule, as an IANA name.
   *
   * @default "UTC"
   */
  readonly timeZone?: string
  /** What happens when clocks change in that zone. */
  readonly dst?: Partial<DstPolicy>
}

/** A schedule by a cron expression. */
export interface CronSpec extends Limits, Zoned {
  /** Five fields. The extended dialect also accepts six (seconds first) and seven (seconds first, year last). */
  readonly cron: string
  /**
   * The grammar of the expression.
   *
   * @default "extended"
   */
  readonly dialect?: Dialect
}

/** A schedule at regular intervals of elapsed time. */
export interface IntervalSpec extends Limits {
  /** Elapsed time between occurrences, at least one second. A day is 24 hours here; compare `{ days: 1 }`. */
  readonly every: Duration
  /** Shifts all occurrences. Less than the interval. */
  readonly offset?: Duration
  /**
   * The start of the count: the Unix epoch, on which all processes and deploys agree, or `startAt`.
   *
   * @default "epoch"
   */
  readonly anchor?: "epoch" | "start"
  /** The zone of the dates in `exclude`. @default "UTC" */
  readonly timeZone?: string
}

/** A schedule by the calendar: every n days, weeks or months. */
export interface CivilIntervalSpec extends Limits, Zoned {
  /** The days, weeks or months between occurrences, and the time of day. */
  readonly every: CivilInterval
}

/** An interval of calendar days, weeks or months. The local time stays the same when clocks change. */
export interface CivilInterval {
  /** The number of days between occurrences. */
  readonly days?: number
  /** The number of weeks between occurrences. */
  readonly weeks?: number
  /** The number of months between occurrences. */
  readonly months?: number
  /** The local time of day. @default "00:00" */
  readonly at?: string
  /** The first date. It sets the weekday of weeks and the day of months. @default "1970-01-01", for days only */
  readonly from?: string
}

/** A schedule that fires once. */
export interface OnceSpec extends Omit<Limits, "startAt" | "endAt" | "maxRuns">, Zoned {
  /** An instant, or a local time without an offset (`"2026-03-29T02:30"`), which is in `timeZone`. */
  readonly at: Date | string
}

/** A schedule that fires a fixed time after the end of its last run. */
export interface AfterCompletionSpec extends Pick<Limits, "startAt" | "endAt" | "maxRuns"> {
  /** The time from the end of a run to the next one. Runs never overlap, and no occurrence can be missed. */
  readonly afterCompletion: Duration
}

/** Excluded days: a date, a range of dates, the name of a calendar, or a cron expression of days. */
export type Exclusion = string | DateRange

/** The dates from `from` to `to`, including both. */
export interface DateRange {
  /** The first date, as in `"2026-12-24"`. */
  readonly from: string
  /** The last date. */
  readonly to: string
}
