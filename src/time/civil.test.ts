import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CYCLE_DAYS, CYCLE_YEARS, civilDate, dayNumber, daysInMonth, weekdayOf } from "./civil.ts"

/** Days of the years 100 to 4000: the platform takes a year below 100 for one of the last century. */
const anyDay = fc.integer({ min: -683_003, max: 741_443 })

describe("the calendar", () => {
  it("agrees with the platform's on every date", () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const date = new Date(day * 86_400_000)
        const expected = {
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
        }
        expect(civilDate(day)).toEqual(expected)
        expect(dayNumber(expected.year, expected.month, expected.day)).toBe(day)
        expect(weekdayOf(day)).toBe(date.getUTCDay())
        expect(daysInMonth(expected.year, expected.month)).toBe(
          new Date(Date.UTC(expected.year, expected.month, 0)).getUTCDate(),
        )
      }),
      { numRuns: 5_000 },
    )
  })

  it("repeats itself after 400 years, weekdays included", () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const { year, month, day: dayOfMonth } = civilDate(day)
        expect(civilDate(day + CYCLE_DAYS)).toEqual({ year: year + CYCLE_YEARS, month, day: dayOfMonth })
        expect(weekdayOf(day + CYCLE_DAYS)).toBe(weekdayOf(day))
      }),
    )
  })
})
