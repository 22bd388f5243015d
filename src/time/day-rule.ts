/** Which civil days something happens on, as day numbers. */

export interface DayRule {
  /** The first matching day that is not before `day`; `undefined`: there is none, ever. */
  readonly next: (day: number) => number | undefined
  /** The last matching day that is not after `day`. */
  readonly previous: (day: number) => number | undefined
  /** How many days in [from, to) match. */
  readonly count: (from: number, to: number) => number
}
