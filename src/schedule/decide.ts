/**
 * Decides what becomes of the occurrences of a schedule that have come due: which of them get a run, what is written
 * down about the others, and when to look again.
 *
 * A function of values alone: two processes that decide from the same reading come to the same decision, and the one
 * that comes second finds the cursor moved.
 */

import type { Policy } from "../job/schedule-policy.ts"
import type { InstantMs } from "../time/instant.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { type Delays, dueOf } from "./jitter.ts"

export interface Scheduled {
  readonly id: string
  readonly recurrence: Recurrence
  readonly delays: Delays
  readonly policy: Policy
  /** After so many runs it is completed. */
  readonly maxRuns: number | null
  /** With so many live runs, the next occurrences of a schedule that drops nothing wait. */
  readonly maxQueued: number
  /** It has one occurrence: one that is missed is not followed by another. */
  readonly isOnce: boolean
  /** A new occurrence takes the place of a run that waits for its next attempt. */
  readonly replacesRetry: boolean
  /** How long a run that is replaced has to end. */
  readonly replaceGraceMs: number
  /** Its next run comes so long after the end of the last one; null for one that has times of its own. */
  readonly afterMs: number | null
  /** So many runs that died in a row are enough. */
  readonly pauseAfterFailures: number | null
  /** What its runs are alone under, with those of other schedules that say the same; by itself, if it says nothing. */
  readonly overlapKey: string | null
  /** Its times depend on the rules of a zone, which may come to be others. */
  readonly isZoned: boolean
  /** What the clock of its zone reads at an instant; null for one that has no zone, or does not go by the clock there. */
  readonly civilOf: (at: InstantMs) => string | null
}

export interface Standing {
  readonly now: InstantMs
  /** Every occurrence up to and including this is decided. */
  readonly cursor: InstantMs
  /** Runs that are not finished, those that wait for a retry included. */
  readonly live: number
  /** How many of those wait for a retry, or for their turn after one. */
  readonly retrying: number
  /** Runs made so far. */
  readonly fired: number
  /** Only what is planned before this is decided; everything, if it is not given. */
  readonly until?: InstantMs
  /** When its last run ended; null if none has. */
  readonly endedAt: InstantMs | null
}

export interface Decision {
  /** The occurrences that get a run, the oldest first. */
  readonly fires: readonly Fire[]
  /** Those that get none, as stretches. */
  readonly passed: readonly Stretch[]
  readonly cursor: InstantMs
  /** The next occurrence, which may be due already; `undefined`: there is none. */
  readonly next: Planned | undefined
  /** Whether it goes on, and if not, how it ended. */
  readonly state: "active" | "completed" | "missed"
  /** Nothing goes on until runs of it have finished. */
  readonly isHeld: boolean
}

export interface Planned {
  readonly occurrence: InstantMs
  readonly due: InstantMs
}

export interface Fire extends Planned {
  /** The occurrences that this run makes up for. */
  readonly missed: Missed | undefined
}

export interface Missed {
  readonly count: number
  readonly first: InstantMs
  readonly last: InstantMs
}

export interface Stretch extends Missed {
  readonly outcome: "coalesced" | "skipped"
  /** Why, or for `coalesced` into which occurrence. */
  readonly reason: "misfire" | "overlap" | "limit" | "paused" | "retired" | "request" | "zone" | "latest"
  readonly into: InstantMs | undefined
  /** Which bound of its misfire policy left these out. */
  readonly bound?: MisfireBound
}

/** They were too late, or too many. */
export type MisfireBound = "within" | "max"

/** How many runs of a schedule are made in one go. */
const CHUNK = 500
/** How often is looked whether a run has ended that the next one waits for. */
const SHORTEST_LOOK_MS = 500
const LONGEST_LOOK_MS = 60_000

export function decide(scheduled: Scheduled, standing: Standing): Decision {
  const { maxRuns } = scheduled
  if (maxRuns !== null && standing.fired >= maxRuns) return ended(standing.cursor, "completed")
  if (scheduled.afterMs !== null) return decideAfter(scheduled, standing, scheduled.afterMs)
  const last = lastDue(scheduled, standing)
  const first = scheduled.recurrence.next(standing.cursor)
  if (first === undefined) return ended(standing.cursor, "completed")
  if (last === undefined || last < first) return nothingDue(scheduled, standing.cursor, first)
  const all = { first, last, count: scheduled.recurrence.count(first, last + 1) }
  return scheduled.policy.misfire.mode === "latest"
    ? decideLatest(scheduled, standing, all)
    : decideAll(scheduled, standing, all)
}

/** One run after the other: nothing can be missed, and nothing overlaps. */
function decideAfter(scheduled: Scheduled, standing: Standing, afterMs: number): Decision {
  const { now, cursor, live, endedAt, until = Number.POSITIVE_INFINITY } = standing
  const lookAgain: Planned = { occurrence: now + afterMs, due: now + lookAfterMs(afterMs) }
  if (live > 0) return { ...nothingDue(scheduled, cursor, cursor), next: lookAgain }
  const next = scheduled.recurrence.next(Math.max(endedAt ?? cursor, cursor))
  if (next === undefined) return ended(cursor, "completed")
  if (next > now || next >= until) return nothingDue(scheduled, cursor, next)
  const fires = [{ occurrence: next, due: next, missed: undefined }]
  const made = goOn(scheduled, standing, { fires, passed: [], cursor: next })
  return made.state === "active" ? { ...made, next: lookAgain } : made
}

/** While a run goes on, often enough to see its end before the next is due, and not more often than that. */
function lookAfterMs(afterMs: number): number {
  return Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, afterMs / 2))
}

/** The last occurrence that is due. Each is due before the next one is planned, so only the last may not be. */
function lastDue(
  scheduled: Scheduled,
  { now, until = Number.POSITIVE_INFINITY }: Standing,
): InstantMs | undefined {
  const planned = scheduled.recurrence.previous(Math.min(now + 1, until))
  if (planned === undefined || dueAt(scheduled, planned) <= now) return planned
  return scheduled.recurrence.previous(planned)
}

function decideLatest(scheduled: Scheduled, standing: Standing, all: Missed): Decision {
  const { policy, recurrence } = scheduled
  const due = dueAt(scheduled, all.last)
  const { withinMs } = policy.misfire
  if (withinMs !== null && standing.now - due > withinMs) {
    return missedAll(scheduled, standing, [{ ...skipped(all, "misfire"), bound: "within" }])
  }
  if (policy.overlap === "queue" && standing.live >= scheduled.maxQueued)
    return held(scheduled, standing, all.first)
  const before =
    all.count > 1
      ? { count: all.count - 1, first: all.first, last: recurrence.previous(all.last) ?? all.first }
      : undefined
  const passed: Stretch[] = before
    ? [{ ...before, outcome: "coalesced", reason: "latest", into: all.last }]
    : []
  const inTheWay = scheduled.replacesRetry ? standing.live - standing.retrying : standing.live
  if (policy.overlap === "skip" && inTheWay > 0) {
    const last = { count: 1, first: all.last, last: all.last }
    return goOn(scheduled, standing, { passed: [...passed, skipped(last, "overlap")], cursor: all.last })
  }
  return goOn(scheduled, standing, {
    fires: [{ occurrence: all.last, due, missed: before }],
    passed,
    cursor: all.last,
  })
}

/** One run for each, none dropped but those beyond the limits that were given, in as many goes as it takes. */
function decideAll(scheduled: Scheduled, standing: Standing, all: Missed): Decision {
  const { recurrence } = scheduled
  const { start, bound } = firstWanted(scheduled, standing, all)
  const passed =
    start > all.first ? [{ ...skipped(stretchUpTo(recurrence, all.first, start), "limit"), bound }] : []
  const decided = passed[0]?.last ?? standing.cursor
  if (start > all.last) return missedAll(scheduled, standing, passed)
  const room = Math.min(
    CHUNK,
    scheduled.maxQueued - standing.live,
    scheduled.maxRuns === null ? CHUNK : scheduled.maxRuns - standing.fired,
  )
  if (room <= 0) return { ...held(scheduled, standing, start), passed, cursor: decided }
  const fires: Fire[] = []
  for (let at: InstantMs | undefined = start; at !== undefined && at <= all.last && fires.length < room; ) {
    fires.push({ occurrence: at, due: dueAt(scheduled, at), missed: undefined })
    at = recurrence.next(at)
  }
  return goOn(scheduled, standing, { fires, passed, cursor: fires.at(-1)?.occurrence ?? decided })
}

/** The oldest of those due that `within` and `max` leave, and which of the two leaves out the most. */
function firstWanted(
  scheduled: Scheduled,
  { now }: Standing,
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
    // All of them are too old: what comes after them is wanted.
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

/** Too late for all that was due. What happens once is then over, and nobody shall think that it happened. */
function missedAll(scheduled: Scheduled, standing: Standing, passed: readonly Stretch[]): Decision {
  const missed = goOn(scheduled, standing, { passed, cursor: passed.at(-1)?.last ?? standing.cursor })
  return scheduled.isOnce ? { ...missed, state: "missed" } : missed
}

function goOn(
  scheduled: Scheduled,
  { fired }: Standing,
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

function held(scheduled: Scheduled, { cursor }: Standing, first: InstantMs): Decision {
  return { ...nothingDue(scheduled, cursor, first), isHeld: true }
}

function ended(cursor: InstantMs, state: "completed"): Decision {
  return { fires: [], passed: [], cursor, next: undefined, state, isHeld: false }
}

function planned(scheduled: Scheduled, occurrence: InstantMs): Planned {
  return { occurrence, due: dueAt(scheduled, occurrence) }
}

/** When an occurrence is due: later than planned by its jitter. */
export function dueAt(
  { id, recurrence, delays }: Pick<Scheduled, "id" | "recurrence" | "delays">,
  at: InstantMs,
): InstantMs {
  if (delays.jitterMs === 0 && delays.spreadMs === 0) return at
  return dueOf({ scheduleId: id, at, next: recurrence.next(at), delays })
}
