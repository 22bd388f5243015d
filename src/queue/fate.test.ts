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

  it("lets it wait for nothing when the dice say so, but wait", () => {
    expect(fate({ kind: "failed", error, retryable: true }, 1, 0)).toMatchObject({
      state: "waiting",
      delayMs: 0,
    })
  })

  it("buries a run after its last attempt, or when the error is final", () => {
    expect(fate({ kind: "failed", error, retryable: true }, 3)).toEqual({ final: true, state: "dead" })
    expect(fate({ kind: "timed_out", error }, 3)).toEqual({ final: true, state: "dead" })
    expect(fate({ kind: "failed", error, retryable: false }, 1)).toEqual({ final: true, state: "dead" })
  })

  it("gives a released run back without charging it, whatever the attempt", () => {
    expect(fate({ kind: "released" }, 3)).toEqual({ final: false, state: "ready", charged: false })
  })

  it("decides what the life of a run says about each event", () => {
    const { running } = RUN_LIFE
    expect(fate({ kind: "succeeded", result: "1" }, 1).state).toBe(running.succeed)
    expect(fate({ kind: "failed", error, retryable: true }, 1).state).toBe(running.retry)
    expect(fate({ kind: "timed_out", error }, 1).state).toBe(running.retry)
    expect(fate({ kind: "failed", error, retryable: false }, 1).state).toBe(running.bury)
    expect(fate({ kind: "released" }, 1).state).toBe(running.release)
  })
})
