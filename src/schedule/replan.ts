/**
 * Plans a schedule anew whose next occurrence was computed by other rules of its zone, from its cursor.
 *
 * An occurrence that has moved to an earlier time, and is past, is due now. What has moved to a later time may have
 * happened already: up to the reading of the last one that made a run or was left out by request, everything has, by the
 * rules of then. That is passed over. A reading that comes twice by both sets of rules, as when a clock is set back, and a schedule of every
 * hour, are none of that: there the next occurrence has not moved.
 */
import type { InstantMs } from "../time/instant.ts"
import { LARGEST_SHIFT_MS } from "../time/zone.ts"
import { type Decision, decide, type Missed, type Scheduled } from "./decide.ts"

/** How it was planned. */
export interface Before {
  readonly cursor: InstantMs
  /** By the other rules. */
  readonly nextOccurrence: InstantMs | null
  /** What the clock read at the last occurrence that made a run, or was left out by request. */
  readonly lastCivil: string | null
  readonly fired: number
}

export function replan(scheduled: Scheduled, before: Before): Decision {
  const { recurrence, isOnce } = scheduled
  const { fired } = before
  // What happens once and has not yet must happen, even if it turns out to have been before the schedule was made.
  const next = recurrence.next(before.cursor) ?? (isOnce ? recurrence.previous(before.cursor + 1) : undefined)
  const repeated = next === undefined ? undefined : repeatedFrom(scheduled, next, before)
  const cursor = repeated?.last ?? Math.min(before.cursor, (next ?? Number.POSITIVE_INFINITY) - 1)
  return {
    ...decide(scheduled, { now: cursor, cursor, live: 0, retrying: 0, fired, endedAt: null }),
    passed: repeated ? [{ ...repeated, outcome: "skipped", reason: "zone", into: undefined }] : [],
  }
}

/** The occurrences from `next` on that have happened by the other rules. */
function repeatedFrom(
  { recurrence, civilOf }: Scheduled,
  next: InstantMs,
  { nextOccurrence, lastCivil }: Before,
): Missed | undefined {
  if (lastCivil === null || next === nextOccurrence) return undefined
  const hasHappened = (at: InstantMs) => (civilOf(at) ?? "~") <= lastCivil && at <= next + LARGEST_SHIFT_MS
  let last: InstantMs | undefined
  let count = 0
  for (let at: InstantMs | undefined = next; at !== undefined && hasHappened(at); at = recurrence.next(at)) {
    last = at
    count += 1
  }
  return last === undefined ? undefined : { first: next, last, count }
}
