import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Delays, dueOf } from "../../src/schedule/jitter.ts"
import { holds } from "./property.ts"

const anyDelays = fc.record({
  jitterMs: fc.integer({ min: 0, max: 1e8 }),
  spreadMs: fc.integer({ min: 0, max: 1e8 }),
})
const anyGap = fc.option(fc.integer({ min: 1_000, max: 2e8 }), { nil: undefined })
const anyAt = fc.integer({ min: 0, max: 4e12 }).map((ms) => ms - (ms % 1_000))

describe("jitter and spread", () => {
  it("never make an occurrence earlier, and never delay it to the next one", () => {
    holds<[string, number, number | undefined, Delays]>(
      5_000,
      [fc.string(), anyAt, anyGap, anyDelays],
      (scheduleId, at, gap, delays) => {
        const due = dueOf({ scheduleId, at, next: gap === undefined ? undefined : at + gap, delays })
        expect(Number.isInteger(due)).toBe(true)
        expect(due).toBeGreaterThanOrEqual(at)
        if (gap !== undefined) expect(due).toBeLessThan(at + gap)
        expect(due - at).toBeLessThanOrEqual(delays.jitterMs + delays.spreadMs)
      },
    )
  })

  it("keep occurrences in order, however large they are", () => {
    const delays = { jitterMs: 1e9, spreadMs: 1e9 }
    const due = Array.from({ length: 500 }, (_, index) =>
      dueOf({ scheduleId: "report", at: index * 60_000, next: (index + 1) * 60_000, delays }),
    )
    expect(due).toEqual([...due].sort((a, b) => a - b))
    expect(due.every((ms, index) => ms >= index * 60_000 && ms < (index + 1) * 60_000)).toBe(true)
  })

  it("are the same in every process: they depend on the schedule and the occurrence and on nothing else", () => {
    const due = (scheduleId: string, at: number) =>
      dueOf({ scheduleId, at, next: at + 86_400_000, delays: { jitterMs: 3_600_000, spreadMs: 0 } }) - at
    // Fixed values: another hash would move the runs of every user.
    expect([due("report", 0), due("report", 86_400_000), due("backup", 0)]).toEqual([
      2_677_624, 3_193_726, 592_419,
    ])
  })

  it("differ in their input: spread is the same for all occurrences of a schedule", () => {
    const spread = (scheduleId: string, at: number) =>
      dueOf({ scheduleId, at, next: at + 86_400_000, delays: { jitterMs: 0, spreadMs: 3_600_000 } }) - at
    const own = Array.from({ length: 50 }, (_, day) => spread("report", day * 86_400_000))
    expect(new Set(own).size).toBe(1)
    expect(new Set(Array.from({ length: 50 }, (_, id) => spread(`report-${id}`, 0))).size).toBe(50)
  })

  it.each(["jitterMs", "spreadMs"] as const)("fill the whole of %s evenly", (kind) => {
    const delays = { jitterMs: 0, spreadMs: 0, [kind]: 1_000_000 }
    const buckets = new Array<number>(20).fill(0)
    for (let index = 0; index < 20_000; index += 1) {
      const due = dueOf({ scheduleId: `tenant-${index}`, at: 0, next: undefined, delays })
      buckets[Math.floor(due / 50_000)] = (buckets[Math.floor(due / 50_000)] ?? 0) + 1
    }
    // A thousand are expected in each; chance alone strays by about 30.
    expect(Math.min(...buckets)).toBeGreaterThan(850)
    expect(Math.max(...buckets)).toBeLessThan(1_150)
  })
})
