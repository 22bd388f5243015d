/** Verdicts: values that a handler returns or throws to decide about its run, instead of returning a result. */
import { assertOptions, duration, object, optional, satisfies } from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"

/** `Symbol.for`, so that two copies of this package accept each other's verdicts. */
const VERDICT = Symbol.for("carillon.verdict")

/** A handler's decision about its own run. */
export type Verdict = { readonly [VERDICT]: true } & VerdictValue

type VerdictValue =
  | { readonly kind: "retry"; readonly afterMs: number | null; readonly reason: string }
  | { readonly kind: "cancel"; readonly reason: string }
  | { readonly kind: "bury"; readonly reason: string }
  | { readonly kind: "snooze"; readonly forMs: number }

const reasonCheck = satisfies("a non-empty text", (value) => typeof value === "string" && value !== "")

/**
 * Fails the attempt and retries after `after`, or as the retry policy says. The attempt counts: if it was the last one,
 * the run becomes a dead letter.
 *
 * @example return Retry({ after: "30s", reason: "rate limited" })
 */
export function Retry(options: { readonly after?: Duration; readonly reason?: string } = {}): Verdict {
  assertOptions("Retry", options, object({ after: optional(duration()), reason: optional(reasonCheck) }))
  const { after, reason = "the handler asked for another attempt" } = options
  return verdict({ kind: "retry", afterMs: parseDuration(after) ?? null, reason })
}

/** Ends the run as cancelled. */
export function Cancel(reason: string): Verdict {
  assertOptions("Cancel", { reason }, object({ reason: reasonCheck }))
  return verdict({ kind: "cancel", reason })
}

/** Fails the run for good: it becomes a dead letter, even if attempts are left. */
export function Bury(reason: string): Verdict {
  assertOptions("Bury", { reason }, object({ reason: reasonCheck }))
  return verdict({ kind: "bury", reason })
}

/** Postpones the run by `time`. This attempt does not count. */
export function Snooze(time: Duration): Verdict {
  assertOptions("Snooze", { time }, object({ time: duration() }))
  return verdict({ kind: "snooze", forMs: parseDuration(time) ?? 0 })
}

/** Whether a value is a verdict. */
export function isVerdict(value: unknown): value is Verdict {
  try {
    return typeof value === "object" && value !== null && Object.hasOwn(value, VERDICT)
  } catch {
    // A proxy may throw here.
    return false
  }
}

function verdict(value: VerdictValue): Verdict {
  return Object.freeze({ [VERDICT]: true as const, ...value })
}
