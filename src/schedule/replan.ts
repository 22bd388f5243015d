/**
 * Plans a schedule again, from its cursor, after the time zone data of its zone has changed.
 *
 * An occurrence that moved to an earlier time, now past, is due now. An occurrence that moved to a later time may have
 * fired already, by the old data. `lastCivil` is the local time of the last occurrence that made a run or was skipped
 * by request. `replan` skips all occurrences up to that local time.
 *
 * If the next occurrence has not moved, nothing is skipped: a local time that comes twice when clocks go back may fire
 * again.
 */
import type { InstantMs } from "../time/instant.ts"
import { LARGEST_SHIFT_MS } from "../time/zone.ts"
import { type Decision, decide, type Missed, type Scheduled } from "./decide.ts"

/** The plan by the old data. */
export interface PreviousPlan {
  readonly cursor: InstantMs
  /** By the old data. */
  readonly nextOccurrence: InstantMs | null
  /** The local time of the last occurrence that made a run or was skipped by request. */
  readonly lastCivil: string | null
  readonly fired: number
}

export function replan(scheduled: Scheduled, before: PreviousPlan): Decision {
  const { recurrence, isOnce } = scheduled
  const { fired } = before
  // A one-time schedule that has not fired must fire, even if the new data puts it before the schedule's creation.
  const next = recurrence.next(before.cursor) ?? (isOnce ? recurrence.previous(before.cursor + 1) : undefined)
  const repeated = next === undefined ? undefined : repeatedFrom(scheduled, next, before)
  const cursor = repeated?.last ?? Math.min(before.cursor, (next ?? Number.POSITIVE_INFINITY) - 1)
  return {
    ...decide(scheduled, { now: cursor, cursor, live: 0, retrying: 0, fired, endedAt: null }),
    passed: repeated ? [{ ...repeated, outcome: "skipped", reason: "zone", into: undefined }] : [],
  }
}

/** The occurrences from `next` on that fired already, by the old data. */
function repeatedFrom(
  { recurrence, civilOf }: Scheduled,
  next: InstantMs,
  { nextOccurrence, lastCivil }: PreviousPlan,
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
