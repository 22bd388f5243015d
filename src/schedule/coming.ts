/**
 * The occurrences of a schedule that are still to come, with when they are due: computed from what it is now, and never
 * stored, so that an edit, a pause or a clock that moves leaves nothing behind that is wrong.
 */
import type { InstantMs } from "../time/instant.ts"
import { decide, dueAt, type Planned, type Scheduled, type Standing } from "./decide.ts"

/** What a schedule is like now. */
export interface Present extends Standing {
  readonly state: string
  readonly pausedAt: InstantMs | null
  /** When its pause ends by itself. */
  readonly resumeAt: InstantMs | null
}

export interface Wanted {
  readonly limit: number
  /** Only those after this occurrence. */
  readonly after: InstantMs | undefined
}

export function coming(scheduled: Scheduled, present: Present, { limit, after }: Wanted): Planned[] {
  const start = startOf(scheduled, present)
  if (!start) return []
  const { recurrence } = scheduled
  const from = Math.max(start.cursor, after ?? start.cursor)
  // Those that are passed over here count as well.
  const left = start.left - (from > start.cursor ? recurrence.count(start.cursor + 1, from + 1) : 0)
  const found: Planned[] = []
  for (
    let at = recurrence.next(from);
    at !== undefined && found.length < Math.min(limit, left);
    at = recurrence.next(at)
  ) {
    found.push({ occurrence: at, due: dueAt(scheduled, at) })
  }
  return found
}

interface Start {
  /** After this they come. */
  readonly cursor: InstantMs
  /** How many runs it may still make. */
  readonly left: number
}

/** Where they begin: after what a tick would decide now, or after the end of its pause. */
function startOf(scheduled: Scheduled, present: Present): Start | undefined {
  const { now, state, pausedAt, resumeAt } = present
  if (state === "active") {
    const { cursor, fires, state: then } = decide(scheduled, present)
    return then === "active" ? { cursor, left: leftOf(scheduled, present, fires.length) } : undefined
  }
  if (state !== "paused" || resumeAt === null) return undefined
  // What was due before the pause is decided when it ends.
  const { fires } = decide(scheduled, { ...present, until: pausedAt ?? now })
  return {
    cursor: Math.max(present.cursor, resumeAt, now),
    left: leftOf(scheduled, present, fires.length),
  }
}

function leftOf({ maxRuns }: Scheduled, { fired }: Present, about: number): number {
  return maxRuns === null ? Number.POSITIVE_INFINITY : maxRuns - fired - about
}
