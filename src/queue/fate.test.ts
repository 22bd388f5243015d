import { describe, expect, it } from "vitest"
import type { RetryPolicy } from "../job/options.ts"
import { decideFate, type Outcome } from "./fate.ts"
import { RUN_LIFE } from "./run-state.ts"

const policy: RetryPolicy = { attempts: 3, baseMs: 1_000, factor: 2, capMs: 60_000 }
const error = { code: null, message: "no", stack: null }
const fate = (outcome: Outcome, attempt: number, roll = 0.5) =>
  decideFate({ outcome, policy, attempt, random: () => roll })

describe("decideFate", () => {
  it("ends a run that succeeded", () => {
    expect(fate({ kind: "succeeded", result: "1" }, 1)).toEqual({ final: true, state: "succeeded" })
  })

  it("lets a failed or late run wait for its next attempt, and charges it", () => {
    const waits = { final: false, state: "waiting", delayMs: 500, charged: true }
    expect(fate({ kind: "failed", error, retryable: true }, 1)).toEqual(waits)
    expect(fate({ kind: "timed_out", error }, 1)).toEqual(waits)
  })

  it("makes it ready at once when the dice say no wait", () => {
    expect(fate({ kind: "failed", error, retryable: true }, 1, 0)).toMatchObject({
      state: "ready",
      delayMs: 0,
    })
  })

  it("buries a run after its last attempt, or when the error is final", () => {
    expect(fate({ kind: "failed", error, retryable: true }, 3)).toEqual({ final: true, state: "dead" })
    expect(fate({ kind: "timed_out", error }, 3)).toEqual({ final: true, state: "dead" })
    expect(fate({ kind: "failed", error, retryable: false }, 1)).toEqual({ final: true, state: "dead" })
  })

  it("gives a released run back without charging it, whatever the attempt", () => {
    expect(fate({ kind: "released" }, 3)).toEqual({
      final: false,
      state: "ready",
      delayMs: 0,
      charged: false,
    })
  })

  it("decides nothing that the life of a run does not allow", () => {
    const outcomes: Outcome[] = [
      { kind: "succeeded", result: "1" },
      { kind: "failed", error, retryable: true },
      { kind: "failed", error, retryable: false },
      { kind: "timed_out", error },
      { kind: "released" },
    ]
    const possible: string[] = Object.values(RUN_LIFE.running)
    for (const outcome of outcomes) {
      for (const attempt of [1, 2, 3]) expect(possible).toContain(fate(outcome, attempt).state)
    }
  })
})
