/**
 * Decides about the due occurrences of a schedule: which get a run, what the ledger records about the others, and when
 * to decide again.
 *
 * A pure function: two processes that read the same state make the same decision. The second one to write finds that
 * the cursor has moved.
 */

import { behaviourOf } from "../job/overlap.ts"
import type { Policy } from "../job/schedule-policy.ts"
import type { InstantMs } from "../time/instant.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { type Delays, dueOf } from "./jitter.ts"

export interface Scheduled {
  readonly id: string
  readonly recurrence: Recurrence
  readonly delays: Delays
  readonly policy: Policy
  /** The schedule completes after this many runs. */
  readonly maxRuns: number | null
  /** A schedule that drops no occurrences stops making runs at this many live runs. */
  readonly maxQueued: number
  /** Whether the schedule has one occurrence only. */
  readonly isOnce: boolean
  /** Whether a new occurrence replaces a run that waits for a retry. */
  readonly replacesRetry: boolean
  /** How long a replaced run has to end. */
  readonly replaceGraceMs: number
  /** The delay after the end of the last run. Null for a schedule with planned times. */
  readonly afterMs: number | null
  /** The schedule pauses after this many dead runs in a row. */
  readonly pauseAfterFailures: number | null
  /** Schedules with the same key share one overlap line. Null: the schedule has its own line. */
  readonly overlapKey: string | null
  /** Whether its times depend on time zone data, which may change. */
  readonly isZoned: boolean
  /** The local time in its zone at an instant. Null if its times do not depend on local time. */
  readonly civilOf: (at: InstantMs) => string | null
}

export interface ScheduleProgress {
  readonly now: InstantMs
  /** Every occurrence up to and including this one is decided. */
  readonly cursor: InstantMs
  /** The number of unfinished runs, including runs that wait for a retry. */
  readonly live: number
  /** The number of live runs that wait for a retry, or for admission after one. */
  readonly retrying: number
  /** The number of runs made so far. */
  readonly fired: number
  /** Decide only occurrences planned before this. */
  readonly until?: InstantMs
  /** When the last run ended. Null if none has. */
  readonly endedAt: InstantMs | null
}

export interface Decision {
  /** The occurrences that get a run, oldest first. */
  readonly fires: readonly Fire[]
  /** The occurrences that get none, as stretches. */
  readonly passed: readonly Stretch[]
  readonly cursor: InstantMs
  /** The next occurrence, which may already be due. `undefined` if there is none. */
  readonly next: Planned | undefined
  /** The state of the schedule after this decision. */
  readonly state: "active" | "completed" | "missed"
  /** Whether the schedule waits for its runs to end before it makes more. */
  readonly isHeld: boolean
}

export interface Planned {
  readonly occurrence: InstantMs
  readonly due: InstantMs
}

export interface Fire extends Planned {
  /** The missed occurrences that this run replaces. */
  readonly missed: Missed | undefined
}

export interface Missed {
  readonly count: number
  readonly first: InstantMs
  readonly last: InstantMs
}

export interface Stretch extends Missed {
  readonly outcome: "coalesced" | "skipped"
  readonly reason: "misfire" | "overlap" | "limit" | "paused" | "retired" | "request" | "zone" | "latest"
  /** For `coalesced`: the occurrence whose run replaces these. */
  readonly into: InstantMs | undefined
  /** The limit of the misfire policy that excluded these. */
  readonly bound?: MisfireBound
}

/** The limits of a misfire policy: too late, or too many. */
export type MisfireBound = "within" | "max"

/** The most runs of one decision. */
const CHUNK = 500
/** The bounds of the interval at which an `afterCompletion` schedule checks whether its run has ended. */
const SHORTEST_LOOK_MS = 500
const LONGEST_LOOK_MS = 60_000

export function decide(scheduled: Scheduled, progress: ScheduleProgress): Decision {
  const { maxRuns } = scheduled
  if (maxRuns !== null && progress.fired >= maxRuns) return ended(progress.cursor, "completed")
  if (scheduled.afterMs !== null) return decideAfter(scheduled, progress, scheduled.afterMs)
  const last = lastDue(scheduled, progress)
  const first = scheduled.recurrence.next(progress.cursor)
  if (first === undefined) return ended(progress.cursor, "completed")
  if (last === undefined || last < first) return nothingDue(scheduled, progress.cursor, first)
  const all = { first, last, count: scheduled.recurrence.count(first, last + 1) }
  return scheduled.policy.misfire.mode === "latest"
    ? decideLatest(scheduled, progress, all)
    : decideAll(scheduled, progress, all)
}

/** Decides an `afterCompletion` schedule: it has one run at a time, so nothing is missed and nothing overlaps. */
function decideAfter(scheduled: Scheduled, progress: ScheduleProgress, afterMs: number): Decision {
  const { now, cursor, live, endedAt, until = Number.POSITIVE_INFINITY } = progress
  const lookAgain: Planned = { occurrence: now + afterMs, due: now + lookAfterMs(afterMs) }
  if (live > 0) return { ...nothingDue(scheduled, cursor, cursor), next: lookAgain }
  const next = scheduled.recurrence.next(Math.max(endedAt ?? cursor, cursor))
  if (next === undefined) return ended(cursor, "completed")
  if (next > now || next >= until) return nothingDue(scheduled, cursor, next)
  const fires = [{ occurrence: next, due: next, missed: undefined }]
  const made = goOn(scheduled, progress, { fires, passed: [], cursor: next })
  return made.state === "active" ? { ...made, next: lookAgain } : made
}

/** Half the delay: the check sees the end of a run before the next one is due. */
function lookAfterMs(afterMs: number): number {
  return Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, afterMs / 2))
}

/** The last due occurrence. Each is due before the next one is planned, so only the last planned one may not be due. */
function lastDue(
  scheduled: Scheduled,
  { now, until = Number.POSITIVE_INFINITY }: ScheduleProgress,
): InstantMs | undefined {
  const planned = scheduled.recurrence.previous(Math.min(now + 1, until))
  if (planned === undefined || dueAt(scheduled, planned) <= now) return planned
  return scheduled.recurrence.previous(planned)
}

function decideLatest(scheduled: Scheduled, progress: ScheduleProgress, all: Missed): Decision {
  const { policy, recurrence } = scheduled
  const due = dueAt(scheduled, all.last)
  const { withinMs } = policy.misfire
  if (withinMs !== null && progress.now - due > withinMs) {
    return missedAll(scheduled, progress, [{ ...skipped(all, "misfire"), bound: "within" }])
  }
  if (behaviourOf(policy.overlap).queues && progress.live >= scheduled.maxQueued)
    return held(scheduled, progress, all.first)
  const before =
    all.count > 1
      ? { count: all.count - 1, first: all.first, last: recurrence.previous(all.last) ?? all.first }
      : undefined
  const passed: Stretch[] = before
    ? [{ ...before, outcome: "coalesced", reason: "latest", into: all.last }]
    : []
  const inTheWay = scheduled.replacesRetry ? progress.live - progress.retrying : progress.live
  if (behaviourOf(policy.overlap).dropsWhileLive && inTheWay > 0) {
    const last = { count: 1, first: all.last, last: all.last }
    return goOn(scheduled, progress, { passed: [...passed, skipped(last, "overlap")], cursor: all.last })
  }
  return goOn(scheduled, progress, {
    fires: [{ occurrence: all.last, due, missed: before }],
    passed,
    cursor: all.last,
  })
}

/** One run for each occurrence within the limits of the policy. Large backlogs take several decisions. */
function decideAll(scheduled: Scheduled, progress: ScheduleProgress, all: Missed): Decision {
  const { recurrence } = scheduled
  const { start, bound } = firstWanted(scheduled, progress, all)
  const passed =
    start > all.first ? [{ ...skipped(stretchUpTo(recurrence, all.first, start), "limit"), bound }] : []
  const decided = passed[0]?.last ?? progress.cursor
  if (start > all.last) return missedAll(scheduled, progress, passed)
  const room = Math.min(
    CHUNK,
    scheduled.maxQueued - progress.live,
    scheduled.maxRuns === null ? CHUNK : scheduled.maxRuns - progress.fired,
  )
  if (room <= 0) return { ...held(scheduled, progress, start), passed, cursor: decided }
  const fires: Fire[] = []
  for (let at: InstantMs | undefined = start; at !== undefined && at <= all.last && fires.length < room; ) {
    fires.push({ occurrence: at, due: dueAt(scheduled, at), missed: undefined })
    at = recurrence.next(at)
  }
  return goOn(scheduled, progress, { fires, passed, cursor: fires.at(-1)?.occurrence ?? decided })
}

/** The oldest due occurrence that `within` and `max` allow, and which of the two set that start. */
function firstWanted(
  scheduled: Scheduled,
  { now }: ScheduleProgress,
  all: Missed,
): { readonly start: InstantMs; readonly bound: MisfireBound } {
  const { recurrence, policy } = scheduled
  const { withinMs, max } = policy.misfire
  let start = all.first
  if (withinMs !== null) {
    const earliest = now - withinMs
    const last = recurrence.previous(earliest + 1)
    const isWithin = last !== undefined && dueAt(scheduled, last) >= earliest
    const oldest = isWithin ? last : recurrence.next(earliest)
    // `all.last + 1`: every due occurrence is too old.
    start = Math.max(start, oldest ?? all.last + 1)
  }
  if (max === null || recurrence.count(start, all.last + 1) <= max) return { start, bound: "within" }
  start = all.last
  for (let back = 1; back < max; back += 1) start = recurrence.previous(start) ?? start
  return { start, bound: "max" }
}

function stretchUpTo(recurrence: Recurrence, first: InstantMs, end: InstantMs): Missed {
  return { first, last: recurrence.previous(end) ?? first, count: recurrence.count(first, end) }
}

function skipped(stretch: Missed, reason: Stretch["reason"]): Stretch {
  return { ...stretch, outcome: "skipped", reason, into: undefined }
}

/** Every due occurrence was too late. A one-time schedule ends as `missed`, not as `completed`. */
function missedAll(scheduled: Scheduled, progress: ScheduleProgress, passed: readonly Stretch[]): Decision {
  const missed = goOn(scheduled, progress, { passed, cursor: passed.at(-1)?.last ?? progress.cursor })
  return scheduled.isOnce ? { ...missed, state: "missed" } : missed
}

function goOn(
  scheduled: Scheduled,
  { fired }: ScheduleProgress,
  made: { readonly fires?: readonly Fire[]; readonly passed: readonly Stretch[]; readonly cursor: InstantMs },
): Decision {
  const { fires = [], passed, cursor } = made
  const isSpent = scheduled.maxRuns !== null && fired + fires.length >= scheduled.maxRuns
  const following = isSpent ? undefined : scheduled.recurrence.next(cursor)
  return {
    fires,
    passed,
    cursor,
    next: following === undefined ? undefined : planned(scheduled, following),
    state: following === undefined ? "completed" : "active",
    isHeld: false,
  }
}

function nothingDue(scheduled: Scheduled, cursor: InstantMs, next: InstantMs): Decision {
  return { fires: [], passed: [], cursor, next: planned(scheduled, next), state: "active", isHeld: false }
}

function held(scheduled: Scheduled, { cursor }: ScheduleProgress, first: InstantMs): Decision {
  return { ...nothingDue(scheduled, cursor, first), isHeld: true }
}

function ended(cursor: InstantMs, state: "completed"): Decision {
  return { fires: [], passed: [], cursor, next: undefined, state, isHeld: false }
}

function planned(scheduled: Scheduled, occurrence: InstantMs): Planned {
  return { occurrence, due: dueAt(scheduled, occurrence) }
}

/** The due time of an occurrence: its planned instant plus jitter and spread. */
export function dueAt(
  { id, recurrence, delays }: Pick<Scheduled, "id" | "recurrence" | "delays">,
  at: InstantMs,
): InstantMs {
  if (delays.jitterMs === 0 && delays.spreadMs === 0) return at
  return dueOf({ scheduleId: id, at, next: recurrence.next(at), delays })
}
