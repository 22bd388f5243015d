/** The calendar days of a recurrence, as day numbers. */

export interface DayRule {
  /** The first matching day on or after `day`. `undefined` if there is none. */
  readonly next: (day: number) => number | undefined
  /** The last matching day on or before `day`. */
  readonly previous: (day: number) => number | undefined
  /** How many days in [from, to) match. */
  readonly count: (from: number, to: number) => number
}
