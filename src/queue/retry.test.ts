import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type RetryOptions, type RetryPolicy, resolveRetry } from "../job/options.ts"
import { judgeFailure, longestDelayMs } from "./retry.ts"

const policy = resolveRetry({ attempts: 5, base: 1_000, factor: 2, cap: 3_000 })
const longest = () => 1

/** The verdict on attempt number `attempt`, by default on one that may be tried again. */
function judge(
  attempt: number,
  by: RetryPolicy = policy,
  { retryable = true, afterMs = null as number | null, random = longest } = {},
) {
  const failure = { attempt, code: "E", message: "no" }
  return judgeFailure({ policy: by, failure, retryable, afterMs, random })
}

const waits = (options: RetryOptions, attempts: readonly number[]) =>
  attempts.map((attempt) => {
    const verdict = judge(attempt, resolveRetry(options))
    return verdict.fate === "retry" ? verdict.delayMs : verdict.because
  })

describe("judgeFailure", () => {
  it("doubles the wait with each attempt, up to the cap", () => {
    const verdicts = [1, 2, 3, 4].map((attempt) => judge(attempt))
    expect(verdicts).toEqual([1_000, 2_000, 3_000, 3_000].map((delayMs) => ({ fate: "retry", delayMs })))
  })

  it("buries the run when its last attempt fails", () => {
    expect(judge(5)).toEqual({ fate: "bury", because: "attempts-exhausted" })
  })

  it("buries the run at once when the error is final", () => {
    expect(judge(1, policy, { retryable: false })).toEqual({ fate: "bury", because: "not-retryable" })
  })

  it("waits the same time each time, or as a list says, the last of it for ever", () => {
    expect(waits({ attempts: 9, delay: "2s" }, [1, 2, 8])).toEqual([2_000, 2_000, 2_000])
    expect(waits({ attempts: 9, delays: ["1s", "5s"] }, [1, 2, 3, 8])).toEqual([1_000, 5_000, 5_000, 5_000])
    expect(waits({ delays: ["1s", "5s"] }, [2, 3])).toEqual([5_000, "attempts-exhausted"])
  })

  it("asks the job's own function, tells it the failure, and gives up when it says so", () => {
    const seen: unknown[] = []
    const after = (failure: { attempt: number }) => {
      seen.push(failure)
      return failure.attempt === 1 ? ("3s" as const) : null
    }
    expect(waits({ after }, [1, 2])).toEqual([3_000, "given-up"])
    expect(seen[0]).toEqual({ attempt: 1, code: "E", message: "no" })
  })

  it("uses the default back-off where that function returns nonsense, and says so", () => {
    const nonsense = resolveRetry({ after: () => "soon" as "1s" })
    const fault =
      "`retry.after` returned soon, which is not a duration; Carillon used the default back-off instead"
    expect(judge(1, nonsense)).toMatchObject({ fate: "retry", fault })
  })

  it("lets the handler's own wish go first, but not beyond the last attempt", () => {
    expect(judge(1, policy, { afterMs: 0 })).toEqual({ fate: "retry", delayMs: 0 })
    expect(judge(1, resolveRetry({ after: () => null }), { afterMs: 7 })).toMatchObject({ delayMs: 7 })
    expect(judge(5, policy, { afterMs: 7 })).toMatchObject({ fate: "bury" })
    expect(judge(1, policy, { afterMs: 7, retryable: false })).toMatchObject({ fate: "bury" })
  })

  it("does not wait where there is nothing to grow, after however many attempts", () => {
    const never = resolveRetry({ attempts: 1_000, base: 0, factor: 10 })
    expect(judge(999, never)).toEqual({ fate: "retry", delayMs: 0 })
  })

  it("never waits longer than the cap, nor less than nothing, nor goes on for ever", () => {
    const wished = fc.record({
      attempts: fc.integer({ min: 1, max: 1_000 }),
      base: fc.integer({ min: 0, max: 10_000_000 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      cap: fc.integer({ min: 0, max: 10_000_000 }),
    })
    const chance = fc.double({ min: 0, max: 0.999_999, noNaN: true })
    fc.assert(
      fc.property(wished, fc.integer({ min: 1, max: 2_000 }), chance, (options, attempt, roll) => {
        const verdict = judge(attempt, resolveRetry(options), { random: () => roll })
        expect(verdict.fate).toBe(attempt >= options.attempts ? "bury" : "retry")
        if (verdict.fate === "bury") return
        const wait = { baseMs: options.base, factor: options.factor, capMs: options.cap }
        expect(verdict.delayMs).toBeGreaterThanOrEqual(0)
        expect(verdict.delayMs).toBeLessThanOrEqual(Math.ceil(longestDelayMs(wait, attempt)))
        expect(verdict.delayMs).toBeLessThanOrEqual(options.cap)
      }),
    )
  })
})
