/** Moves occurrences from excluded days to the next or previous free day. */
import type { DayRule } from "../time/day-rule.ts"

/** What happens to an occurrence on an excluded day. */
export type OnExcluded = "skip" | "next-day" | "previous-day"

/** A search gives up after this many excluded days in a row: more than 27 years of holidays. */
const MOST_DAYS = 10_000

/**
 * The days of `base`, with excluded days moved to the nearest free day in one direction.
 *
 * Moving keeps the order of days. So the next moved day comes from the first base day that can move to `day` or later.
 */
export function moveExcludedDays(
  base: DayRule,
  isExcluded: (day: number) => boolean,
  onExcluded: Exclude<OnExcluded, "skip">,
): DayRule {
  const forward = onExcluded === "next-day"
  const side = forward ? 1 : -1

  /** The first free day from `day` on, in one direction. */
  function freeDay(day: number, towards: 1 | -1): number | undefined {
    for (let step = 0; step <= MOST_DAYS; step += 1) {
      if (!isExcluded(day + step * towards)) return day + step * towards
    }
    return undefined
  }

  /** The far end of the excluded days that move to `day`, or `day` if there are none. */
  function excludedBefore(day: number): number {
    let end = day
    for (let step = 0; step < MOST_DAYS && isExcluded(end - side); step += 1) end -= side
    return end
  }

  const moved = (day: number | undefined) => (day === undefined ? undefined : freeDay(day, side))

  const next = (day: number): number | undefined => {
    // Forward, excluded days before `day` may land on it. Backward, days before the next free day land before `day`.
    const first = forward ? excludedBefore(day) : freeDay(day, 1)
    return first === undefined ? undefined : moved(base.next(first))
  }

  return {
    next,
    previous: (day) => {
      const last = forward ? freeDay(day, -1) : excludedBefore(day)
      return last === undefined ? undefined : moved(base.previous(last))
    },
    count: (from, to) => {
      let total = 0
      for (let day = next(from); day !== undefined && day < to; day = next(day + 1)) total += 1
      return total
    },
  }
}
