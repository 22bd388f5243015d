/** A parsed cron expression: number sets for the time of day, and rules for the days. */
import type { NumberSet } from "./number-set.ts"

/**
 * The grammar that the parser accepts. A dialect limits the syntax. It never changes what an expression means.
 *
 * - `posix`: IEEE 1003.1, five fields of digits, `*`, lists and ranges.
 * - `vixie`: also names, steps, 7 for Sunday and nicknames such as `@daily`.
 * - `extended`: also seconds and years, `n/step`, `?`, `L`, `W`, `#`, `+` and a `CRON_TZ=` prefix.
 */
export type Dialect = "posix" | "vixie" | "extended"

export interface CronExpression {
  /** The text as the user wrote it. */
  readonly text: string
  /** The canonical form, for comparison. */
  readonly canonical: string
  /** The zone of a `CRON_TZ=` prefix. */
  readonly timeZone: string | undefined
  readonly seconds: NumberSet
  readonly minutes: NumberSet
  readonly hours: NumberSet
  readonly days: CronDays
}

/** The days that match. */
export interface CronDays {
  readonly months: NumberSet
  /** Years from 1970 to 2199. `undefined` means every year. */
  readonly years: NumberSet | undefined
  readonly monthDays: NumberSet
  readonly monthDayRules: readonly MonthDayRule[]
  /** 0 is Sunday. */
  readonly weekdays: NumberSet
  readonly weekdayRules: readonly WeekdayRule[]
  /** Whether the field is anything but `*` or `?`. */
  readonly monthDayRestricted: boolean
  readonly weekdayRestricted: boolean
  /** With both fields restricted, a day must match both (`+` before the weekdays). Otherwise either is enough. */
  readonly both: boolean
}

export type MonthDayRule =
  /** `L`, `L-3`: the last day of the month, or n days before it. */
  | { readonly kind: "last"; readonly before: number }
  /** `15W`: the weekday (Monday to Friday) nearest to the day, within its month. */
  | { readonly kind: "nearest-weekday"; readonly day: number }
  /** `LW`, `L-3W`: the weekday nearest to that day. */
  | { readonly kind: "last-nearest-weekday"; readonly before: number }

export type WeekdayRule =
  /** `5#3`: the third Friday of the month. */
  | { readonly kind: "nth"; readonly weekday: number; readonly nth: number }
  /** `5L`: the last Friday of the month. */
  | { readonly kind: "last"; readonly weekday: number }
