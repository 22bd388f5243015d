/** Every way in which an attempt can end, as a worker writes it. */
import type { End } from "./runs.ts"

export const ENDS: Readonly<Record<string, End & { state: string }>> = {
  succeeded: { state: "succeeded", outcome: "succeeded", result: "1" },
  dead: { state: "dead", outcome: "failed", error: "no luck" },
  expired: { state: "expired", outcome: "expired", error: "too late", startedAgoMs: null },
  cancelled: { state: "cancelled", outcome: "cancelled", error: "not wanted" },
  failed: { state: "waiting", outcome: "failed", error: "no luck", delayMs: 1_000, cause: "failed" },
  "timed out": { state: "waiting", outcome: "timed_out", error: "slow", delayMs: 0, cause: "failed" },
  snoozed: { state: "waiting", outcome: "snoozed", delayMs: 1_000, cause: "snoozed" },
  released: { state: "ready", outcome: "released", cause: "released", startedAgoMs: null },
  /** Its process stops, and the handler did not end in time. */
  interrupted: { state: "ready", outcome: "released", cause: "released" },
}
/** The same as pairs of name and end. */
export const ways: [string, End & { state: string }][] = Object.entries(ENDS)
