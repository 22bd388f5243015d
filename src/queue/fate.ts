/** How an attempt ended, and what that makes of its run: the one place where outcomes become states. */
import { type Failure, type RetryPolicy, resolveRetry } from "../job/options.ts"
import type { ErrorRecord } from "./error-record.ts"
import { type FailureVerdict, judgeFailure } from "./retry.ts"

export type Outcome =
  | { readonly kind: "succeeded"; readonly result: string }
  | {
      readonly kind: "failed"
      readonly error: ErrorRecord
      readonly retryable: boolean
      /** What the handler asked for, if it did. */
      readonly afterMs?: number | null
    }
  | { readonly kind: "timed_out"; readonly error: ErrorRecord }
  /** Given back without a verdict: the process stops, or it had no slot for it in time. */
  | { readonly kind: "released" }
  /** The handler, or someone else, does not want the run any more. */
  | { readonly kind: "cancelled"; readonly error: ErrorRecord }
  /** It was not started in time, and now it must not be. */
  | { readonly kind: "expired"; readonly error: ErrorRecord }
  /** Not now, said the handler. */
  | { readonly kind: "snoozed"; readonly forMs: number }

export type Fate =
  | { readonly final: true; readonly state: "succeeded" | "dead" | "cancelled" | "expired" }
  /** It waits for its next attempt. */
  | { readonly final: false; readonly state: "waiting"; readonly delayMs: number }
  /** It is ready as it was. */
  | { readonly final: false; readonly state: "ready" }

/** Why there is another attempt after one that ended so. */
export const CAUSE_OF = {
  failed: "failed",
  timed_out: "failed",
  released: "released",
  snoozed: "snoozed",
} as const satisfies Partial<Record<Outcome["kind"], string>>

export function decideFate(ended: {
  readonly outcome: Outcome
  readonly policy: RetryPolicy
  readonly attempt: number
  readonly random: () => number
}): Fate {
  const { outcome } = ended
  switch (outcome.kind) {
    case "succeeded":
    case "cancelled":
    case "expired":
      return { final: true, state: outcome.kind }
    case "released":
      return { final: false, state: "ready" }
    case "snoozed":
      return { final: false, state: "waiting", delayMs: outcome.forMs }
    case "failed":
    case "timed_out": {
      const verdict = judge(ended, outcome)
      if (verdict.fate === "bury") return { final: true, state: "dead" }
      return { final: false, state: "waiting", delayMs: verdict.delayMs }
    }
  }
}

/** A retry function that fails, or makes no sense, is none: then the default says when. */
function judge(
  { policy, attempt, random }: { policy: RetryPolicy; attempt: number; random: () => number },
  outcome: Extract<Outcome, { kind: "failed" | "timed_out" }>,
): FailureVerdict {
  const { code, message } = outcome.error
  const failure: Failure = { attempt, code, message }
  const afterMs = outcome.kind === "failed" ? (outcome.afterMs ?? null) : null
  const isRetryable = () => (outcome.kind === "failed" ? outcome.retryable : !policy.isFinal(outcome.error))
  try {
    return judgeFailure({ policy, failure, retryable: isRetryable(), afterMs, random })
  } catch {
    const { wait } = resolveRetry({})
    const retryable = outcome.kind === "timed_out" || outcome.retryable
    return judgeFailure({ policy: { ...policy, wait }, failure, retryable, afterMs, random })
  }
}

/** What there is to say about an outcome that was no success. */
export function errorOf(outcome: Outcome): ErrorRecord | null {
  return "error" in outcome ? outcome.error : null
}
