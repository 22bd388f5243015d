import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CarillonError, CronError } from "../../src/errors.ts"
import { readSchedule } from "../../src/schedule/schedule.ts"
import { createCronDays } from "../../src/time/cron-days.ts"
import type { Dialect } from "../../src/time/cron-expression.ts"
import { parseCron } from "../../src/time/cron-parse.ts"
import { holds } from "./property.ts"

const anyDialect = fc.constantFrom<Dialect>("posix", "vixie", "extended")
/** Random text from the parts of cron. */
const garbage = fc
  .array(fc.constantFrom(..."0123456789*,-/?LW#+=@ \tmonjandaily", "CRON_TZ=", "@every ", "5-0", "*/"), {
    maxLength: 60,
  })
  .map((parts) => parts.join(""))
/** Six fields of such parts, so that more than the number of fields is checked. */
const fields = fc
  .array(
    fc.array(fc.constantFrom("0", "1", "7", "31", "59", "*", ",", "-", "/", "L", "W", "#", "?", "fri"), {
      minLength: 1,
      maxLength: 6,
    }),
    { minLength: 4, maxLength: 8 },
  )
  .map((all) => all.map((parts) => parts.join("")).join(" "))
const anyText = fc.oneof(
  fc.string({ maxLength: 1_500 }),
  fc.string({ unit: "binary" }),
  garbage,
  fields,
  fields,
)

describe("a text that is no cron expression", () => {
  it("is refused with a CronError that points into it and says how to fix it, and with nothing else", () => {
    holds<[string, Dialect]>(20_000, [anyText, anyDialect], (text, dialect) => {
      const error = faultOf(() => parseCron(text, dialect))
      if (error === undefined) return
      expect(error).toBeInstanceOf(CronError)
      const { position, hint, code } = error as CronError
      expect(code).toMatch(/^CRON_/)
      expect(position).toBeGreaterThanOrEqual(0)
      expect(position).toBeLessThanOrEqual(text.length)
      expect(hint).not.toBe("")
    })
  })

  it("is refused by a schedule with a CarillonError, and with nothing else", () => {
    holds<[string, string]>(3_000, [anyText, fc.oneof(fc.constant("UTC"), fc.string())], (cron, timeZone) => {
      const error = faultOf(() => readSchedule({ cron, timeZone }))
      if (error !== undefined) expect(error).toBeInstanceOf(CarillonError)
    })
  })

  it("that one dialect accepts means the same in every wider one", () => {
    holds<[string]>(5_000, [fields], (text) => {
      const canonical = (dialect: Dialect) => {
        try {
          return parseCron(text, dialect).canonical
        } catch {
          return undefined
        }
      }
      const [posix, vixie, extended] = [canonical("posix"), canonical("vixie"), canonical("extended")]
      if (posix !== undefined) expect(vixie).toBe(posix)
      if (vixie !== undefined) expect(extended).toBe(vixie)
    })
  })
})

describe("a hostile expression", () => {
  it.each([
    ["a list of 10 KB", `${"0,".repeat(5_000)}0 * * * *`, "CRON_TOO_LONG"],
    ["a megabyte of stars", "*".repeat(1_000_000), "CRON_TOO_LONG"],
    ["a range of a thousand million", "0-999999999/1 * * * *", "CRON_RANGE"],
    ["a number of 900 digits", `${"9".repeat(900)} * * * *`, "CRON_RANGE"],
    ["a step that never moves", "*/0 * * * *", "CRON_STEP"],
    ["a step of 900 digits", `*/${"9".repeat(900)} * * * *`, "CRON_STEP"],
    ["an interval of nothing", "@every 0s", "CRON_UNSUPPORTED"],
    ["long garbage", "/-,#".repeat(250), "CRON_FIELDS"],
    ["hundreds of fields", "* ".repeat(400), "CRON_FIELDS"],
  ])("is refused before any day is looked at: %s", (_, text, code) => {
    expect(() => parseCron(text)).toThrow(expect.objectContaining({ code }))
  })

  it("is refused with a short message", () => {
    expect(faultOf(() => parseCron(`${"0,".repeat(5_000)}0 * * * *`))?.message.length).toBeLessThan(300)
    expect(faultOf(() => parseCron(`${"9".repeat(900)} * * * *`))?.message.length).toBeLessThan(400)
  })

  it("gains nothing by repeating itself", () => {
    const { days } = parseCron(
      `* * ${Array(100).fill("31W,L").join(",")} * +${Array(30).fill("1#5").join(",")}`,
    )
    expect([days.monthDayRules.length, days.weekdayRules.length]).toEqual([2, 1])
  })

  it.each([
    ["30 February", "0 0 30 2 *", 401],
    ["the 31st of months that have none", "0 0 31 4,6,9,11 *", 1_604],
    ["the first that is a fifth Monday", "0 0 1 * +1#5", 4_801],
    ["30 February in a year that is over", "0 0 0 30 2 * 1970-2199", 230],
  ])("is proved to never fire within 400 years of months: %s", (_, text, most) => {
    const steps = { next: 0, previous: 0 }
    let running: keyof typeof steps = "next"
    const days = createCronDays(parseCron(text).days, () => {
      steps[running] += 1
    })
    expect(days.next(0)).toBeUndefined()
    running = "previous"
    expect(days.previous(146_097)).toBeUndefined()
    expect(steps.next).toBeLessThanOrEqual(most)
    expect(steps.previous).toBeLessThanOrEqual(Math.max(most, 401))
    expect(Math.max(steps.next, steps.previous)).toBeLessThanOrEqual(4_801)
  })
})

function faultOf(action: () => unknown): Error | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return error as Error
  }
}
