/**
 * Computes the future occurrences of a schedule from its present state. They are never stored, so an edit, a pause or a
 * clock change cannot make them stale.
 */
import type { InstantMs } from "../time/instant.ts"
import { decide, dueAt, type Planned, type Scheduled, type ScheduleProgress } from "./decide.ts"

/** The present state of a schedule. */
export interface CurrentSchedule extends ScheduleProgress {
  readonly state: string
  readonly pausedAt: InstantMs | null
  /** When its pause ends. Null if only a call ends it. */
  readonly resumeAt: InstantMs | null
}

export interface ComingOptions {
  readonly limit: number
  /** Return occurrences after this one. */
  readonly after: InstantMs | undefined
}

export function comingOccurrences(
  scheduled: Scheduled,
  present: CurrentSchedule,
  { limit, after }: ComingOptions,
): Planned[] {
  const start = startOf(scheduled, present)
  if (!start) return []
  const { recurrence } = scheduled
  const from = Math.max(start.cursor, after ?? start.cursor)
  // Occurrences before `after` also use up runs.
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
  /** Future occurrences come after this instant. */
  readonly cursor: InstantMs
  /** How many runs the schedule may still make. */
  readonly left: number
}

/** The start of the future: after everything that a tick would decide now, or after the end of the pause. */
function startOf(scheduled: Scheduled, present: CurrentSchedule): Start | undefined {
  const { now, state, pausedAt, resumeAt } = present
  if (state === "active") {
    const { cursor, fires, state: then } = decide(scheduled, present)
    return then === "active" ? { cursor, left: leftOf(scheduled, present, fires.length) } : undefined
  }
  if (state !== "paused" || resumeAt === null) return undefined
  // When the pause ends, the schedule first decides what was due before it.
  const { fires } = decide(scheduled, { ...present, until: pausedAt ?? now })
  return {
    cursor: Math.max(present.cursor, resumeAt, now),
    left: leftOf(scheduled, present, fires.length),
  }
}

function leftOf({ maxRuns }: Scheduled, { fired }: CurrentSchedule, about: number): number {
  return maxRuns === null ? Number.POSITIVE_INFINITY : maxRuns - fired - about
}
