/** What becomes of a run whose attempt has failed: a pure verdict that the engine obeys. */
import type { Failure, RetryPolicy, RetryWait } from "../job/options.ts"
import { parseDuration } from "../time/duration.ts"

export type FailureVerdict =
  | { readonly fate: "retry"; readonly delayMs: number }
  | { readonly fate: "bury"; readonly because: "not-retryable" | "attempts-exhausted" | "given-up" }

/** The verdict on attempt number `failure.attempt`, counted from 1. */
export function judgeFailure(judged: {
  readonly policy: RetryPolicy
  readonly failure: Failure
  readonly retryable: boolean
  /** What the handler asked for, if it did. */
  readonly afterMs?: number | null
  readonly random: () => number
}): FailureVerdict {
  const { policy, failure, retryable, afterMs, random } = judged
  if (!retryable) return { fate: "bury", because: "not-retryable" }
  if (failure.attempt >= policy.attempts) return { fate: "bury", because: "attempts-exhausted" }
  const delayMs = afterMs ?? waitMs(policy.wait, failure, random)
  return delayMs === null ? { fate: "bury", because: "given-up" } : { fate: "retry", delayMs }
}

/** How long to wait; null: not at all, ever. */
function waitMs(wait: RetryWait, failure: Failure, random: () => number): number | null {
  switch (wait.kind) {
    case "exponential":
      return Math.round(longestDelayMs(wait, failure.attempt) * random())
    case "fixed":
      return wait.delayMs
    case "list":
      return wait.delaysMs[Math.min(failure.attempt, wait.delaysMs.length) - 1] ?? 0
    case "function": {
      const given = wait.after(failure)
      if (given === null) return null
      const ms = parseDuration(given)
      if (ms === undefined) throw new TypeError(`retry.after returned ${String(given)}, which is no duration`)
      return ms
    }
  }
}

/**
 * The longest wait after attempt number `attempt`. The wait itself is drawn evenly from nothing to this (full
 * jitter): a thousand runs that failed together do not come back together.
 */
export function longestDelayMs(
  wait: { readonly baseMs: number; readonly factor: number; readonly capMs: number },
  attempt: number,
): number {
  // Growing without end must not make something of nothing: zero times infinity is no number.
  const growth = Math.min(wait.factor ** (attempt - 1), Number.MAX_VALUE)
  return Math.min(wait.capMs, wait.baseMs * growth)
}
