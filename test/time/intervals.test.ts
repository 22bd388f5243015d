import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readSchedule, type Schedule } from "../../src/schedule/schedule.ts"
import type { CivilInterval } from "../../src/schedule/spec.ts"
import { between } from "../../src/time/recurrence.ts"
import { createOracle, type Oracle, oracleZone } from "./oracle.ts"
import { holds } from "./property.ts"
import { anyDst, anyPlace, NASTY_PLACES, near, type Place } from "./zones-and-moments.ts"

const SECOND = 1_000
const DAY = 86_400 * SECOND

type Dst = typeof anyDst extends fc.Arbitrary<infer Value> ? Value : never

const anyMoment = fc.oneof(anyPlace, ...NASTY_PLACES.map(near))
const anyPeriod = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }).map((seconds) => seconds * SECOND),
  fc.integer({ min: SECOND, max: 90 * DAY }),
)

describe("an interval of elapsed time", () => {
  it("fires at the epoch plus multiples of its period plus its offset, and never else", () => {
    const at = fc.integer({ min: -3 * DAY, max: 50_000 * DAY })
    holds<[number, number, number]>(2_000, [anyPeriod, fc.nat(), at], (every, pick, moment) => {
      const offset = pick % every
      const schedule = readSchedule({ every, offset })
      const isPlanned = (instant: number) => Number.isInteger((instant - offset) / every)
      const next = schedule.next(moment) ?? Number.NaN
      const previous = schedule.previous(moment) ?? Number.NaN
      expect([isPlanned(next), isPlanned(previous)]).toEqual([true, true])
      expect(next > moment && next - moment <= every).toBe(true)
      expect(previous < moment && moment - previous <= every).toBe(true)
      expect(schedule.count(moment, next + 5 * every)).toBe(isPlanned(moment) ? 6 : 5)
      expect([...between(schedule, moment, next + 5 * every)]).toHaveLength(isPlanned(moment) ? 6 : 5)
    })
  })

  it("counted from its start begins with its start", () => {
    holds<[number, number]>(300, [anyPeriod, fc.integer({ min: 0, max: 2e12 })], (every, start) => {
      const schedule = readSchedule({ every, anchor: "start", startAt: new Date(start) })
      expect(schedule.next(0 - DAY)).toBe(start)
      expect(schedule.next(start)).toBe(start + every)
      expect(schedule.previous(start)).toBeUndefined()
    })
  })
})

const anyCivil: fc.Arbitrary<Required<Pick<CivilInterval, "at">> & { unit: Unit; step: number }> = fc.record({
  unit: fc.constantFrom("days" as const, "weeks" as const, "months" as const),
  step: fc.integer({ min: 1, max: 9 }),
  at: fc
    .tuple(fc.constantFrom("00", "01", "02", "03", "09", "23"), fc.constantFrom("00", "15", "30", "59"))
    .map((parts) => parts.join(":")),
})
type Unit = "days" | "weeks" | "months"

describe("an interval of the calendar", () => {
  it("fires on the days that counting from its first day gives", { timeout: 30_000 }, () => {
    const back = fc.integer({ min: -40, max: 900 })
    holds<[Place, typeof anyCivil extends fc.Arbitrary<infer V> ? V : never, number, Dst]>(
      400,
      [anyMoment, anyCivil, back, anyDst],
      (place, { unit, step, at }, daysBack, dst) => {
        const first = Math.floor(place.at / DAY) - daysBack
        const from = new Date(first * DAY).toISOString().slice(0, 10)
        const schedule = readSchedule({ every: { [unit]: step, at, from }, timeZone: place.timeZone, dst })
        const oracle = civilOracle({ unit, step, at, first }, place, dst)
        agree(schedule, oracle, place.at, 100)
      },
    )
  })

  it("on the 31st skips months without one, and from 29 February waits for leap years", () => {
    const dates = (every: CivilInterval, count: number) =>
      take(readSchedule({ every }), Date.UTC(2023, 11, 31), count).map((at) => at.slice(0, 10))
    expect(dates({ months: 1, from: "2024-01-31" }, 4)).toEqual([
      "2024-01-31",
      "2024-03-31",
      "2024-05-31",
      "2024-07-31",
    ])
    expect(dates({ months: 12, from: "2088-02-29" }, 4)).toEqual([
      "2088-02-29",
      "2092-02-29",
      "2096-02-29",
      "2104-02-29",
    ])
  })

  it("keeps its time on the wall where elapsed time does not", () => {
    const from = Date.parse("2026-03-27T12:00Z")
    const civil = readSchedule({ every: { days: 1, at: "09:00" }, timeZone: "Europe/Berlin" })
    expect(take(civil, from, 3)).toEqual(["2026-03-28T08:00Z", "2026-03-29T07:00Z", "2026-03-30T07:00Z"])
    const elapsed = readSchedule({ every: "24h", offset: "8h" })
    expect(take(elapsed, from, 3)).toEqual(["2026-03-28T08:00Z", "2026-03-29T08:00Z", "2026-03-30T08:00Z"])
  })
})

function agree(schedule: Schedule, oracle: Oracle, at: number, days: number): void {
  const within = (found: number | undefined) =>
    found !== undefined && Math.abs(found - at) < (days - 1) * DAY ? found : undefined
  expect(within(schedule.next(at))).toBe(within(oracle.next(at, days)))
  expect(within(schedule.previous(at))).toBe(within(oracle.previous(at, days)))
}

function civilOracle(
  { unit, step, at, first }: { unit: Unit; step: number; at: string; first: number },
  { timeZone }: Place,
  dst: Dst,
): Oracle {
  const [hour = 0, minute = 0] = at.split(":").map(Number)
  const begin = new Date(first * DAY)
  return createOracle({
    fields: {
      seconds: new Set([0]),
      minutes: new Set([minute]),
      hours: new Set([hour]),
      matchesDay: (year, month, day) => {
        const date = Date.UTC(year, month - 1, day) / DAY
        if (date < first) return false
        if (unit !== "months") return (date - first) % (unit === "weeks" ? 7 * step : step) === 0
        const months = (year - begin.getUTCFullYear()) * 12 + month - 1 - begin.getUTCMonth()
        return day === begin.getUTCDate() && months % step === 0
      },
    },
    zone: oracleZone(timeZone),
    ...dst,
  })
}

function take(schedule: Schedule, after: number, count: number): string[] {
  const found: string[] = []
  for (let at = schedule.next(after); at !== undefined && found.length < count; at = schedule.next(at)) {
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"))
  }
  return found
}
