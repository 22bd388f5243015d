/** When something happens, as users write it: once, at intervals, or as a cron expression says. */
import type { Dialect } from "../time/cron-expression.ts"
import type { Duration } from "../time/duration.ts"
import type { DstPolicy } from "../time/zoned.ts"
import type { OnExcluded } from "./exclude.ts"

/**
 * When something happens: by a cron expression, at intervals, by the calendar, once, or after the last run.
 */
export type ScheduleSpec = CronSpec | IntervalSpec | CivilIntervalSpec | OnceSpec | AfterCompletionSpec

interface Limits {
  /** Nothing happens before this; it counts itself. */
  readonly startAt?: Date | string
  /** Nothing happens from this on. */
  readonly endAt?: Date | string
  /** How many runs the schedule makes before it is completed. */
  readonly maxRuns?: number
  /**
   * Days on which nothing happens, by the date in the schedule's zone: `"2026-12-25"`, a range of dates, the name of
   * one of the `calendars`, or a cron expression of which only the days count (`"* * * * 0"`).
   */
  readonly exclude?: readonly Exclusion[]
  /** Lists of days to be named in `exclude`. */
  readonly calendars?: Readonly<Record<string, readonly (string | DateRange)[]>>
  /**
   * What becomes of an occurrence on an excluded day: it is dropped, or moved by whole days to the next or the
   * previous day that is not excluded.
   *
   * @default "skip"
   */
  readonly onExcluded?: OnExcluded
  /** Delays each occurrence by a part of this that is random but always the same; never past the next occurrence. */
  readonly jitter?: Duration
  /** Delays all occurrences by the same part of this, which is different for each schedule. */
  readonly spread?: Duration
}

interface Zoned {
  /**
   * The zone whose clock on the wall is meant, by its IANA name.
   *
   * @default "UTC"
   */
  readonly timeZone?: string
  /** What happens when that clock is changed. */
  readonly dst?: Partial<DstPolicy>
}

/** A schedule by a cron expression. */
export interface CronSpec extends Limits, Zoned {
  /** Five fields; in the extended dialect also six (seconds first) or seven (seconds first, year last). */
  readonly cron: string
  /**
   * The grammar that is accepted.
   *
   * @default "extended"
   */
  readonly dialect?: Dialect
}

/** A schedule at even intervals of elapsed time. */
export interface IntervalSpec extends Limits {
  /** Elapsed time between occurrences, at least a second. A day is 24 hours here; see `{ days: 1 }`. */
  readonly every: Duration
  /** Moves all occurrences by this; less than the interval. */
  readonly offset?: Duration
  /**
   * From where intervals are counted: the epoch, so that every process and every deploy agrees, or `startAt`.
   *
   * @default "epoch"
   */
  readonly anchor?: "epoch" | "start"
  /** The zone in which `exclude` looks at dates. @default "UTC" */
  readonly timeZone?: string
}

/** A schedule by the calendar: every so many days, weeks or months. */
export interface CivilIntervalSpec extends Limits, Zoned {
  /** How many days, weeks or months lie between occurrences, and at what time. */
  readonly every: CivilInterval
}

/** Days, weeks or months of the calendar, at the same time on the wall. */
export interface CivilInterval {
  /** Every so many days. */
  readonly days?: number
  /** Every so many weeks. */
  readonly weeks?: number
  /** Every so many months. */
  readonly months?: number
  /** The time on the wall. @default "00:00" */
  readonly at?: string
  /** The date from which is counted; weeks take their weekday from it, months their day. @default "1970-01-01", for days only */
  readonly from?: string
}

/** A schedule that happens once. */
export interface OnceSpec extends Omit<Limits, "startAt" | "endAt" | "maxRuns">, Zoned {
  /** An instant, or a wall time without a zone (`"2026-03-29T02:30"`), which is read in `timeZone`. */
  readonly at: Date | string
}

/** A schedule whose next time is counted from the end of its last run. */
export interface AfterCompletionSpec extends Pick<Limits, "startAt" | "endAt" | "maxRuns"> {
  /** How long after the end of a run the next one is due. Overlaps and catching up are impossible by nature. */
  readonly afterCompletion: Duration
}

/**
 * Days on which nothing happens: a date, a range of dates, the name of a calendar, or a cron expression of
 * days.
 */
export type Exclusion = string | DateRange

/** Dates from `from` to `to`, both included. */
export interface DateRange {
  /** The first date, as in `"2026-12-24"`. */
  readonly from: string
  /** The last date. */
  readonly to: string
}
