/** Days on which a schedule does not fire, and where what would have fired there is moved to. */
import type { DayRule } from "../time/day-rule.ts"

/** What becomes of an occurrence on an excluded day. */
export type OnExcluded = "skip" | "next-day" | "previous-day"

/** A search that passes over this many excluded days in a row gives up: that is more than 27 years of holidays. */
const MOST_DAYS = 10_000

/**
 * The days of `base`, the excluded ones moved to the nearest free day on one side.
 *
 * Where a day is moved to never decreases as the day grows, so the first day that can be moved to `day` or beyond is
 * the one to look at.
 */
export function moveExcludedDays(
  base: DayRule,
  isExcluded: (day: number) => boolean,
  onExcluded: Exclude<OnExcluded, "skip">,
): DayRule {
  const forward = onExcluded === "next-day"
  const side = forward ? 1 : -1

  /** The first free day from `day` on, towards one side. */
  function freeDay(day: number, towards: 1 | -1): number | undefined {
    for (let step = 0; step <= MOST_DAYS; step += 1) {
      if (!isExcluded(day + step * towards)) return day + step * towards
    }
    return undefined
  }

  /** The far end of the stretch of excluded days that ends beside `day`, on the side from which days are moved. */
  function stretchBeside(day: number): number {
    let end = day
    for (let step = 0; step < MOST_DAYS && isExcluded(end - side); step += 1) end -= side
    return end
  }

  const moved = (day: number | undefined) => (day === undefined ? undefined : freeDay(day, side))

  const next = (day: number): number | undefined => {
    // Moved forward, days before this one may land on it; moved back, days before the next free one land before it.
    const first = forward ? stretchBeside(day) : freeDay(day, 1)
    return first === undefined ? undefined : moved(base.next(first))
  }

  return {
    next,
    previous: (day) => {
      const last = forward ? freeDay(day, -1) : stretchBeside(day)
      return last === undefined ? undefined : moved(base.previous(last))
    },
    count: (from, to) => {
      let total = 0
      for (let day = next(from); day !== undefined && day < to; day = next(day + 1)) total += 1
      return total
    },
  }
}
