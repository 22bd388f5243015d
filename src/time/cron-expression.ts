/** A cron expression as data: sets of numbers for the time of day, and rules for the days. */
import type { NumberSet } from "./number-set.ts"

/**
 * Which grammar is accepted. A dialect narrows what may be written, never what it means.
 *
 * - `posix`: IEEE 1003.1, five fields of digits, `*`, lists and ranges.
 * - `vixie`: also names, steps, 7 for Sunday and nicknames such as `@daily`.
 * - `extended`: also seconds and years, `n/step`, `?`, `L`, `W`, `#`, `+` and a `CRON_TZ=` prefix.
 */
export type Dialect = "posix" | "vixie" | "extended"

export interface CronExpression {
  /** As it was given. */
  readonly text: string
  /** The same schedule in one way of writing, for comparison. */
  readonly canonical: string
  /** The zone of a `CRON_TZ=` prefix. */
  readonly timeZone: string | undefined
  readonly seconds: NumberSet
  readonly minutes: NumberSet
  readonly hours: NumberSet
  readonly days: CronDays
}

/** Which days match. */
export interface CronDays {
  readonly months: NumberSet
  /** 1970 to 2199; `undefined`: every year. */
  readonly years: NumberSet | undefined
  readonly monthDays: NumberSet
  readonly monthDayRules: readonly MonthDayRule[]
  /** 0 is Sunday. */
  readonly weekdays: NumberSet
  readonly weekdayRules: readonly WeekdayRule[]
  /** Whether the field says anything but `*` or `?`. */
  readonly monthDayRestricted: boolean
  readonly weekdayRestricted: boolean
  /** When both are restricted, a day has to satisfy both (a `+` before the weekdays) and not just one. */
  readonly both: boolean
}

export type MonthDayRule =
  /** `L`, `L-3`: so many days before the last of the month. */
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
