import { describe, expect, it } from "vitest"
import { judgeGrowth, REMIND_MS } from "./growth-alarm.ts"

const alarm = { atLeast: 100, withinMs: 3_600_000 }

describe("judgeGrowth", () => {
  it("raises at the threshold, clears below half of it, and says nothing in between", () => {
    const verdicts = [99, 100, 150, 70, 50, 49].map((count) => ({
      before: judgeGrowth(alarm, { count, isRaised: false, toldAgoMs: null }),
      after: judgeGrowth(alarm, { count, isRaised: true, toldAgoMs: 1 }),
    }))
    expect(verdicts.map(({ before }) => before)).toEqual([
      undefined,
      "raised",
      "raised",
      undefined,
      undefined,
      undefined,
    ])
    expect(verdicts.map(({ after }) => after)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      "cleared",
    ])
  })

  it("reminds once an hour while it lasts", () => {
    const told = (toldAgoMs: number | null) => judgeGrowth(alarm, { count: 100, isRaised: true, toldAgoMs })
    expect([REMIND_MS - 1, REMIND_MS, null].map(told)).toEqual([undefined, "lasting", "lasting"])
  })

  it("raises and clears with a threshold of one", () => {
    const one = { ...alarm, atLeast: 1 }
    expect(judgeGrowth(one, { count: 1, isRaised: false, toldAgoMs: null })).toBe("raised")
    expect(judgeGrowth(one, { count: 0, isRaised: true, toldAgoMs: 1 })).toBe("cleared")
  })
})
