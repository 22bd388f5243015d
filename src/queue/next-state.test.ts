import { describe, expect, it } from "vitest"
import { type RetryPolicy, resolveRetry } from "../job/options.ts"
import { CAUSE_OF, decideNextState, errorOf, type Outcome } from "./next-state.ts"
import { RUN_LIFE } from "./run-state.ts"

const policy = resolveRetry({ attempts: 3, base: 1_000, factor: 2, cap: 60_000 })
const error = { code: null, message: "no", stack: null }
const next = (outcome: Outcome, attempt: number, roll = 0.5, by: RetryPolicy = policy) =>
  decideNextState({ outcome, policy: by, attempt, random: () => roll })

describe("decideNextState", () => {
  it("ends a run that succeeded", () => {
    expect(next({ kind: "succeeded", result: "1" }, 1)).toEqual({ state: "succeeded" })
  })

  it("lets a failed or late run wait for its next attempt", () => {
    const waits = { state: "waiting", delayMs: 500, fault: null }
    expect(next({ kind: "failed", error, retryable: true }, 1)).toEqual(waits)
    expect(next({ kind: "timed_out", error }, 1)).toEqual(waits)
  })

  it("lets it wait for nothing when the dice say so, but wait", () => {
    expect(next({ kind: "failed", error, retryable: true }, 1, 0)).toMatchObject({
      state: "waiting",
      delayMs: 0,
    })
  })

  it("lets it wait for as long as its handler asked, in the place of the policy", () => {
    for (const afterMs of [0, 42]) {
      expect(next({ kind: "failed", error, retryable: true, afterMs }, 1)).toMatchObject({ delayMs: afterMs })
    }
    expect(next({ kind: "failed", error, retryable: true, afterMs: null }, 1)).toMatchObject({ delayMs: 500 })
  })

  it("buries a run after its last attempt, or when the error is final", () => {
    expect(next({ kind: "failed", error, retryable: true }, 3)).toEqual({ state: "dead", fault: null })
    expect(next({ kind: "failed", error, retryable: true, afterMs: 1 }, 3)).toMatchObject({ state: "dead" })
    expect(next({ kind: "timed_out", error }, 3)).toEqual({ state: "dead", fault: null })
    expect(next({ kind: "failed", error, retryable: false }, 1)).toEqual({ state: "dead", fault: null })
  })

  it("gives a released run back as it was, whatever the attempt", () => {
    expect(next({ kind: "released" }, 3)).toEqual({ state: "ready" })
  })

  it("lets a run that was snoozed wait for the time it asked for, whatever the attempt", () => {
    expect(next({ kind: "snoozed", forMs: 7 }, 9)).toEqual({ state: "waiting", delayMs: 7 })
  })

  it("ends a run that is not wanted any more, or that came too late", () => {
    expect(next({ kind: "cancelled", error }, 1)).toEqual({ state: "cancelled" })
    expect(next({ kind: "expired", error }, 1)).toEqual({ state: "expired" })
  })

  it.each<[string, () => never | string | null | undefined]>([
    ["fails", () => { throw new Error("broken") }], // biome-ignore format: one line each
    ["returns no duration", () => "soon"],
  ])("goes by the default when a job's own retry function %s", (_, after) => {
    const own = resolveRetry({ attempts: 3, after: after as () => null })
    expect(next({ kind: "failed", error, retryable: true }, 1, 0.5, own)).toEqual({
      state: "waiting",
      delayMs: 5_000,
      fault: expect.stringContaining("Carillon used the default back-off instead"),
    })
    expect(next({ kind: "failed", error, retryable: true }, 3, 0.5, own)).toMatchObject({ state: "dead" })
  })

  it("decides what the life of a run says about each event", () => {
    const { running } = RUN_LIFE
    expect(next({ kind: "succeeded", result: "1" }, 1).state).toBe(running.succeed)
    expect(next({ kind: "failed", error, retryable: true }, 1).state).toBe(running.retry)
    expect(next({ kind: "timed_out", error }, 1).state).toBe(running.retry)
    expect(next({ kind: "failed", error, retryable: false }, 1).state).toBe(running.bury)
    expect(next({ kind: "released" }, 1).state).toBe(running.release)
    expect(next({ kind: "snoozed", forMs: 1 }, 1).state).toBe(running.snooze)
    expect(next({ kind: "cancelled", error }, 1).state).toBe(running.cancel)
    expect(next({ kind: "expired", error }, 1).state).toBe(running.expire)
  })

  it("has a cause for every outcome that another attempt can follow, and for no other", () => {
    const outcomes: Outcome[] = [
      { kind: "succeeded", result: "1" },
      { kind: "failed", error, retryable: true },
      { kind: "timed_out", error },
      { kind: "released" },
      { kind: "cancelled", error },
      { kind: "expired", error },
      { kind: "snoozed", forMs: 1 },
    ]
    const followed = outcomes
      .filter((outcome) => ["waiting", "ready"].includes(next(outcome, 1).state))
      .map(({ kind }) => kind)
    expect(followed.toSorted()).toEqual(Object.keys(CAUSE_OF).toSorted())
  })
})

describe("errorOf", () => {
  it("says what went wrong, where something did", () => {
    expect(errorOf({ kind: "failed", error, retryable: true })).toBe(error)
    expect(errorOf({ kind: "expired", error })).toBe(error)
    expect(errorOf({ kind: "released" })).toBeNull()
    expect(errorOf({ kind: "succeeded", result: "1" })).toBeNull()
  })
})
