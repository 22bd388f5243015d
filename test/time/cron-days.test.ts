import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createCronDays } from "../../src/time/cron-days.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { anyCron, type GeneratedCron } from "./expressions.ts"
import { expandFields } from "./oracle-fields.ts"
import { holds } from "./property.ts"

const DAY = 86_400_000
/** Days of 1970 to 2198. */
const anyDay = fc.integer({ min: 0, max: 83_600 })
const LENGTH = 200

describe("the days of an expression", () => {
  it("are those of the definition, one by one, over months of every shape", {
    timeout: 30_000,
  }, () => {
    holds<[GeneratedCron, number]>(2_500, [anyCron, anyDay], ({ text, dialect }, first) => {
      const { matchesDay } = expandFields(text)
      const days = createCronDays(parseCron(text, dialect).days)
      const expected = Array.from({ length: LENGTH }, (_, index) => first + index).filter((day) => {
        const date = new Date(day * DAY)
        return matchesDay(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
      })
      const end = first + LENGTH
      const forward: number[] = []
      for (let day = days.next(first); day !== undefined && day < end; day = days.next(day + 1))
        forward.push(day)
      const backward: number[] = []
      for (
        let day = days.previous(end - 1);
        day !== undefined && day >= first;
        day = days.previous(day - 1)
      ) {
        backward.push(day)
      }
      expect(forward).toEqual(expected)
      expect(backward.reverse()).toEqual(expected)
      expect(days.count(first, end)).toBe(expected.length)
    })
  })
})
