/** How an attempt ended, and what that makes of its run: the one place where outcomes become states. */
import type { RetryPolicy } from "../job/options.ts"
import type { ErrorRecord } from "./error-record.ts"
import { judgeFailure } from "./retry.ts"

export type Outcome =
  | { readonly kind: "succeeded"; readonly result: string }
  | { readonly kind: "failed"; readonly error: ErrorRecord; readonly retryable: boolean }
  | { readonly kind: "timed_out"; readonly error: ErrorRecord }
  /** Given back without a verdict: the process stops. */
  | { readonly kind: "released" }

export type Fate =
  | { readonly final: true; readonly state: "succeeded" | "dead" }
  /** It waits for its next attempt; this one counts. */
  | { readonly final: false; readonly state: "waiting"; readonly delayMs: number; readonly charged: true }
  /** It is ready as it was; this attempt does not count. */
  | { readonly final: false; readonly state: "ready"; readonly charged: false }

export function decideFate(ended: {
  readonly outcome: Outcome
  readonly policy: RetryPolicy
  readonly attempt: number
  readonly random: () => number
}): Fate {
  const { outcome, policy, attempt, random } = ended
  switch (outcome.kind) {
    case "succeeded":
      return { final: true, state: "succeeded" }
    case "released":
      return { final: false, state: "ready", charged: false }
    case "failed":
    case "timed_out": {
      const retryable = outcome.kind === "timed_out" || outcome.retryable
      const verdict = judgeFailure({ policy, attempt, retryable, random })
      if (verdict.fate === "bury") return { final: true, state: "dead" }
      return { final: false, state: "waiting", delayMs: verdict.delayMs, charged: true }
    }
  }
}

/** What there is to say about an outcome that was no success. */
export function errorOf(outcome: Outcome): ErrorRecord | null {
  return "error" in outcome ? outcome.error : null
}
