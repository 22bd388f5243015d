import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { RetryPolicy } from "../job/options.ts"
import { judgeFailure, longestDelayMs } from "./retry.ts"

const policy: RetryPolicy = { attempts: 5, baseMs: 1_000, factor: 2, capMs: 3_000 }
const longest = () => 1

describe("judgeFailure", () => {
  it("doubles the wait with each attempt, up to the cap", () => {
    const verdicts = [1, 2, 3, 4].map((attempt) =>
      judgeFailure({ policy, attempt, retryable: true, random: longest }),
    )
    expect(verdicts).toEqual([1_000, 2_000, 3_000, 3_000].map((delayMs) => ({ fate: "retry", delayMs })))
  })

  it("buries the run when its last attempt fails", () => {
    expect(judgeFailure({ policy, attempt: 5, retryable: true, random: longest })).toEqual({
      fate: "bury",
      because: "attempts-exhausted",
    })
  })

  it("buries the run at once when the error is final", () => {
    expect(judgeFailure({ policy, attempt: 1, retryable: false, random: longest })).toEqual({
      fate: "bury",
      because: "not-retryable",
    })
  })

  it("never waits longer than the cap, nor less than nothing, nor goes on for ever", () => {
    const policies = fc.record({
      attempts: fc.integer({ min: 1, max: 1_000 }),
      baseMs: fc.integer({ min: 0, max: 10_000_000 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      capMs: fc.integer({ min: 0, max: 10_000_000 }),
    })
    const chance = fc.double({ min: 0, max: 0.999_999, noNaN: true })
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 2_000 }), chance, (drawn, attempt, roll) => {
        const verdict = judgeFailure({ policy: drawn, attempt, retryable: true, random: () => roll })
        expect(verdict.fate).toBe(attempt >= drawn.attempts ? "bury" : "retry")
        if (verdict.fate === "bury") return
        expect(verdict.delayMs).toBeGreaterThanOrEqual(0)
        expect(verdict.delayMs).toBeLessThanOrEqual(Math.ceil(longestDelayMs(drawn, attempt)))
        expect(verdict.delayMs).toBeLessThanOrEqual(drawn.capMs)
      }),
    )
  })
})
