/** What a handler may say about its run instead of returning a result: values, to be returned or thrown. */
import { assertOptions, duration, object, optional, satisfies } from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"

/** Registered, so that two copies of this package understand each other's. */
const VERDICT = Symbol.for("carillon.verdict")

/** The verdict of a handler on its own run. */
export type Verdict = { readonly [VERDICT]: true } & VerdictValue

type VerdictValue =
  | { readonly kind: "retry"; readonly afterMs: number | null; readonly reason: string }
  | { readonly kind: "cancel"; readonly reason: string }
  | { readonly kind: "bury"; readonly reason: string }
  | { readonly kind: "snooze"; readonly forMs: number }

const reasonCheck = satisfies("a text that says why", (value) => typeof value === "string" && value !== "")

/**
 * The attempt has failed and another should follow: after `after`, or as the retry policy says. It counts, and the
 * last one buries the run.
 *
 * @example return Retry({ after: "30s", reason: "rate limited" })
 */
export function Retry(options: { readonly after?: Duration; readonly reason?: string } = {}): Verdict {
  assertOptions("Retry", options, object({ after: optional(duration()), reason: optional(reasonCheck) }))
  const { after, reason = "the handler asked for another attempt" } = options
  return verdict({ kind: "retry", afterMs: parseDuration(after) ?? null, reason })
}

/** The run is not wanted any more: it ends as cancelled. */
export function Cancel(reason: string): Verdict {
  assertOptions("Cancel", { reason }, object({ reason: reasonCheck }))
  return verdict({ kind: "cancel", reason })
}

/** The run has failed for good: it becomes a dead letter, whatever attempts are left. */
export function Bury(reason: string): Verdict {
  assertOptions("Bury", { reason }, object({ reason: reasonCheck }))
  return verdict({ kind: "bury", reason })
}

/** Not now: the run is tried again after `time`, and this attempt does not count. */
export function Snooze(time: Duration): Verdict {
  assertOptions("Snooze", { time }, object({ time: duration() }))
  return verdict({ kind: "snooze", forMs: parseDuration(time) ?? 0 })
}

/** Whether a handler returned or threw one of these. */
export function isVerdict(value: unknown): value is Verdict {
  try {
    return typeof value === "object" && value !== null && Object.hasOwn(value, VERDICT)
  } catch {
    // A proxy may refuse even this question.
    return false
  }
}

function verdict(value: VerdictValue): Verdict {
  return Object.freeze({ [VERDICT]: true as const, ...value })
}
