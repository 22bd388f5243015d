import { describe, expect, it } from "vitest"
import type { CronExpression } from "../../src/time/cron-expression.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { anyCron, type GeneratedCron } from "./expressions.ts"
import { holds } from "./property.ts"

describe("the canonical form", () => {
  it("reads back as the same schedule, and is its own canonical form", () => {
    holds<[GeneratedCron]>(3_000, [anyCron], ({ text, dialect }) => {
      const parsed = parseCron(text, dialect)
      const again = parseCron(parsed.canonical)
      expect(meaning(again)).toEqual(meaning(parsed))
      expect(again.canonical).toBe(parsed.canonical)
    })
  })

  it("is kept beside the text as it was given", () => {
    const { text, canonical } = parseCron("  */1  0,0 ? JAN-dec  sun,1-5,6 ")
    expect({ text, canonical }).toEqual({
      text: "  */1  0,0 ? JAN-dec  sun,1-5,6 ",
      canonical: "* 0 * * 0-6",
    })
  })

  it.each([
    ["@daily", "0 0 * * *", "0 0 0 ? * * *"],
    ["0 0 * * 0", "0 0 * * 7", "0 0 ? * SUN"],
    ["0-59/15 * * * *", "*/15 * * * *", "0,15,30,45 0-23 * 1-12 *"],
    ["0 0 * * 5L", "0 0 * * 5#L", "0 0 * * friL,FRI#L"],
    ["0 0 L * *", "0 0 L-0 * *", "0 0 L,l * *"],
    ["0 9 * * mon-fri", "0 9 * * 1-5", "0 9 * * +1,2,3,4,5"],
    ["0 0 0 1 1 * 1970-2199", "0 0 0 1 1 * */1", "0 0 0 1 JAN ? 1970/1"],
  ])("is one for all ways to write %s", (...texts) => {
    expect(new Set(texts.map((text) => parseCron(text).canonical)).size).toBe(1)
  })

  it.each([
    ["0 0 13 * 5", "0 0 13 * +5"],
    ["0 0 * * 1-5", "0 0 1-31 * 1-5"],
    ["0 0 0 1 1 * *", "0 0 0 1 1 * 1970-2199"],
    ["0 0 15W * *", "0 0 15 * *"],
  ])("tells %s from %s", (one, other) => {
    expect(parseCron(one).canonical).not.toBe(parseCron(other).canonical)
  })
})

/** The meaning of an expression, without its spelling. Rules are compared as sets. */
function meaning({ seconds, minutes, hours, days }: CronExpression): unknown {
  const rules = (list: readonly object[]) => [...new Set(list.map((rule) => JSON.stringify(rule)))].sort()
  return {
    sets: [seconds, minutes, hours, days.months, days.monthDays, days.weekdays].map(({ values }) => values),
    years: days.years?.values,
    rules: [rules(days.monthDayRules), rules(days.weekdayRules)],
    restricted: [days.monthDayRestricted, days.weekdayRestricted],
    both: days.both && days.monthDayRestricted && days.weekdayRestricted,
  }
}
