/** Calendar intervals: every n days or months, counted from a start date. */
import { civilDate, dayNumber, daysInMonth } from "./civil.ts"
import type { DayRule } from "./day-rule.ts"

/** Every `step` days, starting on day number `from`. */
export function everyDays(step: number, from: number): DayRule {
  return {
    next: (day) => (day <= from ? from : from + Math.ceil((day - from) / step) * step),
    previous: (day) => (day < from ? undefined : from + Math.floor((day - from) / step) * step),
    count: (start, end) => {
      const before = (day: number) => (day <= from ? 0 : Math.ceil((day - from) / step))
      return Math.max(0, before(end) - before(start))
    },
  }
}

/**
 * A month without the day is skipped, as in cron. The search ends after 4,800 months: the calendar repeats every
 * 400 years, so no later month has the day either.
 */
const MOST_MONTHS = 4_800

/** The same day of every `step`-th month, starting on day number `from`. Months without that day are skipped. */
export function everyMonths(step: number, from: number): DayRule {
  const start = civilDate(from)
  const origin = start.year * 12 + start.month - 1
  /** The day number in the k-th month, or `undefined` if that month is too short. */
  const dayIn = (k: number): number | undefined => {
    const index = origin + k * step
    const year = Math.floor(index / 12)
    const month = (index % 12) + 1
    return start.day <= daysInMonth(year, month) ? dayNumber(year, month, start.day) : undefined
  }
  const stepAt = (day: number): number => {
    const { year, month } = civilDate(day)
    return Math.floor((year * 12 + month - 1 - origin) / step)
  }
  const next = (day: number): number | undefined => {
    const first = Math.max(0, stepAt(day))
    for (let k = first; k < first + MOST_MONTHS; k += 1) {
      const found = dayIn(k)
      if (found !== undefined && found >= day) return found
    }
    return undefined
  }
  return {
    next,
    previous: (day) => {
      for (let k = stepAt(day); k >= 0; k -= 1) {
        const found = dayIn(k)
        if (found !== undefined && found <= day) return found
      }
      return undefined
    },
    count: (first, end) => {
      let total = 0
      for (let day = next(first); day !== undefined && day < end; day = next(day + 1)) total += 1
      return total
    },
  }
}
