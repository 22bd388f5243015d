/** What becomes of a run whose attempt has failed: a pure verdict that the engine obeys. */
import { type Failure, type RetryPolicy, type RetryWait, resolveRetry } from "../job/options.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { recordError } from "./error-record.ts"

export type FailureVerdict =
  /** `fault`: what is wrong with the job's own back-off, so that the default was used instead. */
  | { readonly fate: "retry"; readonly delayMs: number; readonly fault?: string }
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
  if (typeof afterMs === "number") return { fate: "retry", delayMs: afterMs }
  const { delayMs, fault } = askWait(policy.wait, failure, random)
  const found = fault === null ? {} : { fault }
  return delayMs === null ? { fate: "bury", because: "given-up" } : { fate: "retry", delayMs, ...found }
}

/**
 * Whether the job says that an error makes further attempts pointless; and what is wrong with what it says, if something
 * is: then the error is not final.
 */
export function askFinal(
  { isFinal }: Pick<RetryPolicy, "isFinal">,
  error: unknown,
): { readonly isFinal: boolean; readonly fault: string | null } {
  try {
    const said: unknown = isFinal(error)
    if (!isPromise(said)) return { isFinal: Boolean(said), fault: null }
    said.catch(() => {})
    return { isFinal: false, fault: `\`retry.final\` returned a promise; ${NOT_FINAL}` }
  } catch (cause) {
    return { isFinal: false, fault: `\`retry.final\` threw (${recordError(cause).message}); ${NOT_FINAL}` }
  }
}

/** The wait, by the default back-off if the job's own function throws or returns nonsense; and what is wrong with it then. */
export function askWait(
  wait: RetryWait,
  failure: Failure,
  random: () => number,
): { readonly delayMs: number | null; readonly fault: string | null } {
  try {
    return { delayMs: waitMs(wait, failure, random), fault: null }
  } catch (cause) {
    const { wait: standard } = resolveRetry({})
    const fault = `${recordError(cause).message}; the default back-off was used instead`
    return { delayMs: waitMs(standard, failure, random), fault }
  }
}

const NOT_FINAL = "the error counts as one that is not final"

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise
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
      const given = afterOf(wait.after, failure)
      if (given === null) return null
      const ms = parseDuration(given)
      if (ms === undefined)
        throw new TypeError(`\`retry.after\` returned ${shown(given)}, which is no duration`)
      return ms
    }
  }
}

function afterOf(after: (failure: Failure) => Duration | null, failure: Failure): unknown {
  try {
    const given: unknown = after(failure)
    // One that is rejected must not end the process.
    if (isPromise(given)) given.catch(() => {})
    return given
  } catch (cause) {
    throw new TypeError(`\`retry.after\` threw (${recordError(cause).message})`)
  }
}

function shown(value: unknown): string {
  return isPromise(value) ? "a promise" : recordError(value).message
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
