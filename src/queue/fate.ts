/** How an attempt ended, and what that makes of its run: the one place where outcomes become states. */
import type { Failure, RetryPolicy } from "../job/options.ts"
import type { ErrorRecord } from "./error-record.ts"
import { askFinal, judgeFailure } from "./retry.ts"

export type Outcome =
  | { readonly kind: "succeeded"; readonly result: string }
  | {
      readonly kind: "failed"
      readonly error: ErrorRecord
      readonly retryable: boolean
      /** What the handler asked for, if it did. */
      readonly afterMs?: number | null
      /** What is wrong with what the job says about errors that are final. */
      readonly fault?: string | null
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

export interface Decision {
  readonly fate: Fate
  /** What is wrong with the job's own retry functions, where they were asked and the default was used instead. */
  readonly fault: string | null
}

interface Ended {
  readonly outcome: Outcome
  readonly policy: RetryPolicy
  readonly attempt: number
  readonly random: () => number
}

/** The fate, and what there is to say about how it was found. */
export function decideFate(ended: Ended): Decision {
  const { outcome } = ended
  switch (outcome.kind) {
    case "succeeded":
    case "cancelled":
    case "expired":
      return { fate: { final: true, state: outcome.kind }, fault: null }
    case "released":
      return { fate: { final: false, state: "ready" }, fault: null }
    case "snoozed":
      return { fate: { final: false, state: "waiting", delayMs: outcome.forMs }, fault: null }
    case "failed":
    case "timed_out":
      return judge(ended, outcome)
  }
}

function judge(
  { policy, attempt, random }: Pick<Ended, "policy" | "attempt" | "random">,
  outcome: Extract<Outcome, { kind: "failed" | "timed_out" }>,
): Decision {
  const { code, message } = outcome.error
  const failure: Failure = { attempt, code, message }
  const { retryable, afterMs, fault } = outcome.kind === "failed" ? outcome : timedOut(policy, outcome)
  const verdict = judgeFailure({ policy, failure, retryable, afterMs: afterMs ?? null, random })
  if (verdict.fate === "bury") return { fate: { final: true, state: "dead" }, fault: fault ?? null }
  const { delayMs } = verdict
  return { fate: { final: false, state: "waiting", delayMs }, fault: fault ?? verdict.fault ?? null }
}

function timedOut(policy: RetryPolicy, { error }: { readonly error: ErrorRecord }) {
  const { isFinal, fault } = askFinal(policy, error)
  return { retryable: !isFinal, afterMs: null, fault }
}

/** What there is to say about an outcome that was no success. */
export function errorOf(outcome: Outcome): ErrorRecord | null {
  return "error" in outcome ? outcome.error : null
}
