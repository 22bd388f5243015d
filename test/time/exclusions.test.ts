import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { withoutDays } from "../../src/schedule/bounds.ts"
import { readExclusions } from "../../src/schedule/calendar.ts"
import { moveExcludedDays } from "../../src/schedule/exclude.ts"
import { readSchedule, type Schedule } from "../../src/schedule/schedule.ts"
import type { Exclusion, ScheduleSpec } from "../../src/schedule/spec.ts"
import { everyDays } from "../../src/time/civil-interval.ts"
import { createInterval } from "../../src/time/interval.ts"
import { UTC } from "../../src/time/zone.ts"
import { frequentCron, type GeneratedCron } from "./expressions.ts"
import { createOracle, oracleZone } from "./oracle.ts"
import { expandFields } from "./oracle-fields.ts"
import { holds } from "./property.ts"
import { anyPlace, NASTY_PLACES, near, type Place } from "./zones-and-moments.ts"

const DAY = 86_400_000
const DST = { gap: "shift", fold: "auto" } as const

const anyMoment = fc.oneof(anyPlace, ...NASTY_PLACES.map(near))

/** Excluded days, as distances from the day of the moment. */
type Holidays = { distances: number[]; range: [number, number]; sundays: boolean }
const anyHolidays: fc.Arbitrary<Holidays> = fc.record({
  distances: fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 4 }),
  range: fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: 0, max: 3 })),
  sundays: fc.boolean(),
})

describe("excluded days, held against the definition", () => {
  it("hold no occurrence, by the date that the clock shows, and take none from other days", {
    timeout: 30_000,
  }, () => {
    holds<[GeneratedCron, Place, Holidays]>(
      200,
      [frequentCron, anyMoment, anyHolidays],
      (cron, place, holidays) => {
        const { exclude, isExcluded } = spell(holidays, place)
        const { timeZone } = place
        const zone = oracleZone(timeZone)
        const spec = { cron: cron.text, timeZone, exclude }
        const oracle = createOracle({ fields: expandFields(cron.text), zone, ...DST, isExcluded })
        agreeAround(spec, place, oracle.within(place.at - 4 * DAY, place.at + 4 * DAY))
      },
    )
  })

  it("give their occurrences to the next or the previous free day, at the same time, once", {
    timeout: 30_000,
  }, () => {
    const side = fc.constantFrom("next-day" as const, "previous-day" as const)
    holds<[GeneratedCron, Place, Holidays, "next-day" | "previous-day"]>(
      150,
      [frequentCron, anyMoment, anyHolidays, side],
      (cron, place, holidays, onExcluded) => {
        const { exclude, isExcluded } = spell(holidays, place)
        const { timeZone } = place
        const spec = { cron: cron.text, timeZone, exclude, onExcluded }
        const fields = expandFields(cron.text)
        const moved = movedDays(fields.matchesDay, isExcluded, onExcluded === "next-day" ? 1 : -1, place.at)
        const matchesDay = (y: number, m: number, d: number) => moved.has(Date.UTC(y, m - 1, d) / DAY)
        const oracle = createOracle({ fields: { ...fields, matchesDay }, zone: oracleZone(timeZone), ...DST })
        agreeAround(spec, place, oracle.within(place.at - 4 * DAY, place.at + 4 * DAY))
      },
    )
  })

  it("apply to elapsed intervals too", { timeout: 30_000 }, () => {
    const period = fc.integer({ min: 60, max: 100_000 }).map((seconds) => seconds * 1_000)
    holds<[number, Place, Holidays]>(400, [period, anyMoment, anyHolidays], (every, place, holidays) => {
      const { exclude, isExcluded } = spell(holidays, place)
      const { timeZone } = place
      const { offsetAt } = oracleZone(timeZone)
      const expected: number[] = []
      const from = place.at - 4 * DAY
      for (let at = Math.ceil(from / every) * every; at < place.at + 4 * DAY; at += every) {
        if (!isExcluded(Math.floor((at + offsetAt(at)) / DAY))) expected.push(at)
      }
      agreeAround({ every, timeZone, exclude }, place, expected)
    })
  })
})

describe("an exclusion", () => {
  it("is a date, a range of dates, a calendar by name, or the days of a cron expression", () => {
    const schedule = readSchedule({
      cron: "0 12 * * *",
      exclude: ["2026-01-02", { from: "2026-01-05", to: "2026-01-06" }, "holidays", "* * 9 * *"],
      calendars: { holidays: ["2026-01-03", { from: "2026-01-11", to: "2026-01-12" }] },
    })
    const days = forward(schedule, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 14)).map((at) =>
      new Date(at).getUTCDate(),
    )
    expect(days).toEqual([1, 4, 7, 8, 10, 13])
  })

  it("applies to the day on which a clock change lands the occurrence", () => {
    const skippedDay = { cron: "0 10 30 * *", timeZone: "Pacific/Apia" } as const
    const after = Date.parse("2011-12-29T00:00Z")
    expect(readSchedule(skippedDay).next(after)).toBe(Date.parse("2011-12-30T20:00Z"))
    const landing = readSchedule({ ...skippedDay, exclude: ["2011-12-31"] })
    expect(landing.next(after)).toBe(Date.parse("2012-01-29T20:00Z"))
  })

  it("with hours is refused, because only whole days can be excluded", () => {
    const spec = { cron: "0 12 * * *", exclude: ["0 12 * * 1"] as Exclusion[] }
    expect(() => readSchedule(spec)).toThrow(/only whole days/)
    expect(() => readSchedule({ cron: "0 12 * * *", exclude: ["xmas"], calendars: { xmass: [] } })).toThrow(
      /xmass/,
    )
  })

  it.each([
    { cron: "0 0 * * *", exclude: ["* * * * *"] },
    { cron: "0 0 * * *", exclude: ["* * * * *"], onExcluded: "next-day" },
    { cron: "0 0 * * *", exclude: ["* * * * *"], onExcluded: "previous-day" },
    { cron: "0 0 29 2 *", exclude: ["* * 29 2 *"], timeZone: "America/New_York" },
    { every: "1w", exclude: ["* * * * 4"] },
    { every: { days: 7, from: "2026-01-04" }, exclude: ["* * * * 0"] },
    { at: "2026-12-25T09:00", exclude: ["2026-12-25"] },
  ] satisfies ScheduleSpec[])("that leaves no day of %j is refused", (spec: ScheduleSpec) => {
    expect(() => readSchedule(spec)).toThrow(expect.objectContaining({ code: "SCHEDULE_NEVER_FIRES" }))
  })

  it("by a cron expression looks at one month for each day, even if it never applies", () => {
    let months = 0
    const isExcluded = readExclusions({ cron: "* * * * *", exclude: ["* * 30 2 *"] }, () => {
      months += 1
    })
    const days = Array.from({ length: 59 }, (_, day) => isExcluded?.(day))
    expect(days).not.toContain(true)
    expect(months).toBeLessThanOrEqual(59)
  })

  it("is asked about 10,000 days and candidates at most, however long the holiday is", () => {
    let asked = 0
    const always = () => {
      asked += 1
      return true
    }
    const everyDay = everyDays(1, 0)
    for (const onExcluded of ["next-day", "previous-day"] as const) {
      const moved = moveExcludedDays(everyDay, always, onExcluded)
      expect([moved.next(20_000), moved.previous(20_000)]).toEqual([undefined, undefined])
    }
    const hourly = withoutDays(createInterval(3_600_000, 0), UTC, always)
    expect([hourly.next(0), hourly.previous(0)]).toEqual([undefined, undefined])
    expect(asked).toBeLessThanOrEqual(2 * 4 * 10_001 + 2 * 10_000)
  })
})

function spell({ distances, range: [start, length], sundays }: Holidays, { at }: Place) {
  const today = Math.floor(at / DAY)
  const date = (day: number) => new Date(day * DAY).toISOString().slice(0, 10)
  const exclude: Exclusion[] = [
    ...distances.map((distance) => date(today + distance)),
    { from: date(today + start), to: date(today + start + length) },
    ...(sundays ? ["* * * * 0"] : []),
  ]
  const isExcluded = (day: number) =>
    distances.includes(day - today) ||
    (day >= today + start && day <= today + start + length) ||
    (sundays && new Date(day * DAY).getUTCDay() === 0)
  return { exclude, isExcluded }
}

/** Where each matching day goes, one by one. */
function movedDays(
  matchesDay: (year: number, month: number, day: number) => boolean,
  isExcluded: (day: number) => boolean,
  side: 1 | -1,
  around: number,
): Set<number> {
  const found = new Set<number>()
  const today = Math.floor(around / DAY)
  for (let day = today - 40; day <= today + 40; day += 1) {
    const date = new Date(day * DAY)
    if (!matchesDay(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())) continue
    let target = day
    while (isExcluded(target)) target += side
    found.add(target)
  }
  return found
}

/** A schedule that loses all its days is refused; the oracle must find no occurrence. */
function agreeAround(spec: ScheduleSpec, { at }: Place, expected: number[]): void {
  const schedule = read(spec)
  if (schedule === undefined) {
    expect(expected).toEqual([])
    return
  }
  const from = at - 4 * DAY
  const to = at + 4 * DAY
  expect(forward(schedule, from - 1, to)).toEqual(expected)
  expect(schedule.count(from, to)).toBe(expected.length)
  const back: number[] = []
  for (let u = schedule.previous(to); u !== undefined && u >= from; u = schedule.previous(u)) back.push(u)
  expect(back.reverse()).toEqual(expected)
}

function read(spec: ScheduleSpec): Schedule | undefined {
  try {
    return readSchedule(spec)
  } catch (error) {
    expect(error).toMatchObject({ code: "SCHEDULE_NEVER_FIRES" })
    return undefined
  }
}

function forward(schedule: Schedule, after: number, to: number): number[] {
  const found: number[] = []
  for (let at = schedule.next(after); at !== undefined && at < to; at = schedule.next(at)) found.push(at)
  return found
}
