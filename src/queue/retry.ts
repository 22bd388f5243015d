/** What becomes of a run whose attempt has failed: a pure verdict that the engine obeys. */
import type { RetryPolicy } from "../job/options.ts"

export type FailureVerdict =
  | { readonly fate: "retry"; readonly delayMs: number }
  | { readonly fate: "bury"; readonly because: "not-retryable" | "attempts-exhausted" }

/** The verdict on attempt number `attempt`, counted from 1. */
export function judgeFailure(failure: {
  readonly policy: RetryPolicy
  readonly attempt: number
  readonly retryable: boolean
  readonly random: () => number
}): FailureVerdict {
  const { policy, attempt, retryable, random } = failure
  if (!retryable) return { fate: "bury", because: "not-retryable" }
  if (attempt >= policy.attempts) return { fate: "bury", because: "attempts-exhausted" }
  return { fate: "retry", delayMs: Math.round(longestDelayMs(policy, attempt) * random()) }
}

/**
 * The longest wait after attempt number `attempt`. The wait itself is drawn evenly from nothing to this (full
 * jitter): a thousand runs that failed together do not come back together.
 */
export function longestDelayMs(policy: RetryPolicy, attempt: number): number {
  return Math.min(policy.capMs, policy.baseMs * policy.factor ** (attempt - 1))
}
