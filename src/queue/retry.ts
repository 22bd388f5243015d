/** Decides whether and when to retry a run after a failed attempt: a pure function. */
import { type Failure, type RetryPolicy, type RetryWait, resolveRetry } from "../job/options.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { recordError } from "./error-record.ts"

export type FailureVerdict =
  /** `fault`: why the job's own back-off failed and the default replaced it. */
  | { readonly fate: "retry"; readonly delayMs: number; readonly fault?: string }
  | { readonly fate: "bury"; readonly because: "not-retryable" | "attempts-exhausted" | "given-up" }

/** The verdict on attempt number `failure.attempt`, counted from 1. */
export function judgeFailure(judged: {
  readonly policy: RetryPolicy
  readonly failure: Failure
  readonly retryable: boolean
  /** The delay of a `Retry` verdict, if it has one. */
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
 * Whether `retry.final` of the job accepts an error. If the option is faulty, the error is not final and `fault` says
 * why.
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

/** The wait before a retry. If `retry.after` is faulty, the default back-off applies and `fault` says why. */
export function askWait(
  wait: RetryWait,
  failure: Failure,
  random: () => number,
): { readonly delayMs: number | null; readonly fault: string | null } {
  try {
    return { delayMs: waitMs(wait, failure, random), fault: null }
  } catch (cause) {
    const { wait: standard } = resolveRetry({})
    const fault = `${recordError(cause).message}; Carillon used the default back-off instead`
    return { delayMs: waitMs(standard, failure, random), fault }
  }
}

const NOT_FINAL = "the error counts as not final"

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise
}

/** The wait in milliseconds. Null means no retry. */
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
        throw new TypeError(`\`retry.after\` returned ${shown(given)}, which is not a duration`)
      return ms
    }
  }
}

function afterOf(after: (failure: Failure) => Duration | null, failure: Failure): unknown {
  try {
    const given: unknown = after(failure)
    // An unhandled rejection would end the process.
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
 * The upper bound of the wait after attempt number `attempt`. The wait itself is random between zero and this bound
 * (full jitter), so runs that failed together do not retry together.
 */
export function longestDelayMs(
  wait: { readonly baseMs: number; readonly factor: number; readonly capMs: number },
  attempt: number,
): number {
  // Limits the growth, because zero times infinity is NaN.
  const growth = Math.min(wait.factor ** (attempt - 1), Number.MAX_VALUE)
  return Math.min(wait.capMs, wait.baseMs * growth)
}
