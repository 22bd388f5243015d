import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readSchedule, type Schedule } from "../../src/schedule/schedule.ts"
import { anyCron, frequentCron, type GeneratedCron } from "./expressions.ts"
import { cronOracle } from "./oracle.ts"
import { holds } from "./property.ts"
import { ALL_ZONES, anyDst, anyPlace, momentIn, NASTY_PLACES, near, type Place } from "./zones-and-moments.ts"

const DAY = 86_400_000
/** How far the oracle looks before both have to agree that no occurrence comes. */
const DAYS = 800

type Dst = typeof anyDst extends fc.Arbitrary<infer Value> ? Value : never

const any = fc.oneof(anyCron, frequentCron)

describe("a cron schedule, held against the definition", () => {
  it("agrees on the next and the previous occurrence, anywhere and at any time", { timeout: 60_000 }, () => {
    holds<[GeneratedCron, Place, Dst]>(800, [any, anyPlace, anyDst], agreeAround)
  })

  it("agrees near the worst clock changes ever made", { timeout: 60_000 }, () => {
    for (const place of NASTY_PLACES) {
      holds<[GeneratedCron, Place, Dst]>(15, [any, near(place), anyDst], agreeAround)
    }
  })

  it("agrees in every zone there is", { timeout: 60_000 }, () => {
    for (const timeZone of ALL_ZONES) {
      holds<[GeneratedCron, Place, Dst]>(1, [any, momentIn(timeZone), anyDst], agreeAround)
    }
  })

  it("agrees on every single occurrence of some days around a change", { timeout: 60_000 }, () => {
    for (const place of NASTY_PLACES) {
      holds<[GeneratedCron, Dst]>(6, [frequentCron, anyDst], (cron, dst) => {
        const from = place.at - 2 * DAY
        const to = place.at + 3 * DAY
        const expected = cronOracle(cron.text, place.timeZone, dst).within(from, to)
        const schedule = read(cron, place, dst)
        if (schedule === undefined) {
          expect(expected).toEqual([])
          return
        }
        expect(forward(schedule, from - 1, to)).toEqual(expected)
        expect(backward(schedule, to, from)).toEqual([...expected].reverse())
        expect(schedule.count(from, to)).toBe(expected.length)
      })
    }
  })

  it("only ever moves on, and looking back from the next never leads past the start", {
    timeout: 60_000,
  }, () => {
    holds<[GeneratedCron, Place, Dst]>(700, [any, anyPlace, anyDst], (cron, place, dst) => {
      const schedule = read(cron, place, dst)
      let at = place.at
      for (let step = 0; step < 5; step += 1) {
        const next = schedule?.next(at)
        if (schedule === undefined || next === undefined) return
        expect(next).toBeGreaterThan(at)
        expect(schedule.previous(next) ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(at)
        expect(schedule.previous(next + 1)).toBe(next)
        expect(schedule.next(next - 1)).toBe(next)
        at = next
      }
    })
  })

  it("counts the same, however the range is cut", { timeout: 60_000 }, () => {
    const length = fc.integer({ min: 0, max: 400 * DAY })
    holds<[GeneratedCron, Place, Dst, number]>(
      600,
      [any, anyPlace, anyDst, length],
      (cron, place, dst, ms) => {
        const schedule = read(cron, place, dst)
        if (schedule === undefined) return
        const far = schedule.count(place.at, place.at + ms)
        const middle = place.at + Math.floor(ms / 3)
        expect(schedule.count(place.at, middle) + schedule.count(middle, place.at + ms)).toBe(far)
        if (far <= 1_000) expect(forward(schedule, place.at - 1, place.at + ms)).toHaveLength(far)
      },
    )
  })
})

function agreeAround(cron: GeneratedCron, place: Place, dst: Dst): void {
  const oracle = cronOracle(cron.text, place.timeZone, dst)
  const schedule = read(cron, place, dst)
  const within = (found: number | undefined) =>
    found !== undefined && Math.abs(found - place.at) < (DAYS - 1) * DAY ? found : undefined
  expect(within(schedule?.next(place.at))).toBe(within(oracle.next(place.at, DAYS)))
  expect(within(schedule?.previous(place.at))).toBe(within(oracle.previous(place.at, DAYS)))
}

/** An expression that never fires is refused, and the oracle must find no occurrence. */
function read({ text, dialect }: GeneratedCron, { timeZone }: Place, dst: Dst): Schedule | undefined {
  try {
    return readSchedule({ cron: text, dialect, timeZone, dst })
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

function backward(schedule: Schedule, before: number, from: number): number[] {
  const found: number[] = []
  for (let at = schedule.previous(before); at !== undefined && at >= from; at = schedule.previous(at))
    found.push(at)
  return found
}
