/** How an attempt ends, and which state it gives its run: the one place where outcomes become states. */
import type { Failure, RetryPolicy } from "../job/options.ts"
import type { ErrorRecord } from "./error-record.ts"
import { askFinal, judgeFailure } from "./retry.ts"

export type Outcome =
  | { readonly kind: "succeeded"; readonly result: string }
  | {
      readonly kind: "failed"
      readonly error: ErrorRecord
      readonly retryable: boolean
      /** The delay that the handler asked for, if it did. */
      readonly afterMs?: number | null
      /** What is wrong with the job's own `retry.final`. */
      readonly fault?: string | null
    }
  | { readonly kind: "timed_out"; readonly error: ErrorRecord }
  /** Given back without a verdict: the process stops, or had no slot for the run in time. */
  | { readonly kind: "released" }
  /** The handler or an operator cancelled the run. */
  | { readonly kind: "cancelled"; readonly error: ErrorRecord }
  /** The run was not started within its time and must not start any more. */
  | { readonly kind: "expired"; readonly error: ErrorRecord }
  /** The handler asked for another attempt later. */
  | { readonly kind: "snoozed"; readonly forMs: number }

/**
 * What an attempt makes of its run. The database may answer `cancelled` instead.
 *
 * `fault` says what is wrong with the job's own retry functions. The default was used instead.
 */
export type NextState =
  | { readonly state: "succeeded" | "dead" | "cancelled" | "expired"; readonly fault?: string | null }
  | { readonly state: "waiting"; readonly delayMs: number; readonly fault?: string | null }
  | { readonly state: "ready"; readonly fault?: null }

/** Why a run has another attempt after an attempt with this outcome. */
export const CAUSE_OF = {
  failed: "failed",
  timed_out: "failed",
  released: "released",
  snoozed: "snoozed",
} as const satisfies Partial<Record<Outcome["kind"], string>>

/** Shared, because nearly every attempt ends like this. */
const SUCCEEDED: NextState = Object.freeze({ state: "succeeded" })
const READY: NextState = Object.freeze({ state: "ready" })

interface JudgedAttempt {
  readonly outcome: Outcome
  readonly policy: RetryPolicy
  readonly attempt: number
  readonly random: () => number
}

export function decideNextState(ended: JudgedAttempt): NextState {
  const { outcome } = ended
  switch (outcome.kind) {
    case "succeeded":
      return SUCCEEDED
    case "released":
      return READY
    case "cancelled":
    case "expired":
      return { state: outcome.kind }
    case "snoozed":
      return { state: "waiting", delayMs: outcome.forMs }
    case "failed":
    case "timed_out":
      return judge(ended, outcome)
  }
}

function judge(
  { policy, attempt, random }: Pick<JudgedAttempt, "policy" | "attempt" | "random">,
  outcome: Extract<Outcome, { kind: "failed" | "timed_out" }>,
): NextState {
  const { code, message } = outcome.error
  const failure: Failure = { attempt, code, message }
  const { retryable, afterMs, fault = null } = outcome.kind === "failed" ? outcome : timedOut(policy, outcome)
  const verdict = judgeFailure({ policy, failure, retryable, afterMs: afterMs ?? null, random })
  if (verdict.fate === "bury") return { state: "dead", fault }
  return { state: "waiting", delayMs: verdict.delayMs, fault: fault ?? verdict.fault ?? null }
}

function timedOut(policy: RetryPolicy, { error }: { readonly error: ErrorRecord }) {
  const { isFinal, fault } = askFinal(policy, error)
  return { retryable: !isFinal, afterMs: null, fault }
}

/** The error of an outcome that was no success. */
export function errorOf(outcome: Outcome): ErrorRecord | null {
  return "error" in outcome ? outcome.error : null
}
