/**
 * Decides the due occurrences of a schedule before the schedule changes. An operation writes these decisions in its own
 * transaction, so the tick never decides an old occurrence by a new definition.
 */
import { CarillonError } from "../../errors.ts"
import { type Decision, decide, type Planned, type Scheduled, type Stretch } from "../../schedule/decide.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { StoredSchedule } from "./change.ts"
import { leftOutOf, type ScheduleDecision, scheduledOf, undecidedOf } from "./decisions.ts"

/** The most chunks of due occurrences that one operation decides. With more, the operation is refused. */
const MOST_CHUNKS = 20

/** The decisions about all due occurrences, and the cursor after them. */
export interface DueDecisions {
  readonly cursor: InstantMs
  readonly decided: readonly ScheduleDecision<StoredSchedule>[]
}

/** Decides all occurrences that are due by now, by the present definition. */
export function settleDue(
  row: StoredSchedule,
  scheduled: Scheduled = undecidedOf(row),
  until: InstantMs = Number.POSITIVE_INFINITY,
): DueDecisions {
  const now = Math.floor(row.now_ms)
  const decided: ScheduleDecision<StoredSchedule>[] = []
  const { retrying, ended_at: endedAt } = row
  let [cursor, live, fired] = [row.cursor, row.live, Number(row.fired)]
  for (let chunks = 0; chunks < MOST_CHUNKS; chunks += 1) {
    const decision = decide(scheduled, { now, cursor, live, retrying, fired, endedAt, until })
    if (decision.isHeld) break
    if (decision.fires.length === 0 && decision.passed.length === 0) return { cursor, decided }
    decided.push({ row, decision, scheduled })
    cursor = decision.cursor
    live += decision.fires.length
    fired += decision.fires.length
  }
  throw new CarillonError(
    "SCHEDULE_BEHIND",
    `Schedule ${JSON.stringify(row.name)} has more occurrences to make up for than can be made at once. ` +
      "Change it when it has caught up, or cancel it.",
  )
}

/** Decides occurrences before the pause by the policy, and skips the occurrences of the pause. */
export function settlePaused(
  row: StoredSchedule,
  pausedAt: InstantMs,
  reason: "paused" | "retired" = "paused",
  scheduled: Scheduled = undecidedOf(row),
): DueDecisions {
  const { recurrence } = scheduled
  const before = settleDue(row, scheduled, pausedAt)
  // The runs before the pause used up `maxRuns`: no occurrence comes after them.
  if (before.decided.some(({ decision }) => decision.state !== "active")) return before
  const now = Math.floor(row.now_ms)
  const first = recurrence.next(Math.max(before.cursor, pausedAt - 1))
  const last = recurrence.previous(now + 1)
  if (first === undefined || last === undefined || first > last) return before
  const count = recurrence.count(first, last + 1)
  const stretch: Stretch = { outcome: "skipped", reason, first, last, count, into: undefined }
  const decision = passing(stretch)
  return { cursor: last, decided: [...before.decided, { row, decision, scheduled }] }
}

/**
 * The instant from which new times apply: now, or the cursor if the clock was set back. The cursor may have passed an
 * occurrence that was skipped ahead of its time. New times before that occurrence are still undecided.
 */
export function beginOf(row: StoredSchedule, settled: InstantMs): InstantMs {
  const now = Math.floor(row.now_ms)
  const leftOut = leftOutOf(row)
  // The times of a faulty schedule cannot be read.
  const previous = (at: InstantMs) =>
    row.state === "error" ? undefined : scheduledOf(row).recurrence.previous(at)
  let at = settled
  while (at > now && leftOut.includes(at)) at = previous(at) ?? now
  return Math.max(at, now)
}

/** A decision that passes over a stretch. The caller writes the next occurrence. */
export function passing(stretch: Stretch): Decision {
  return {
    fires: [],
    passed: [stretch],
    cursor: stretch.last,
    next: undefined,
    state: "completed",
    isHeld: false,
  }
}

export function nextOf(
  row: Parameters<typeof undecidedOf>[0] & { readonly fired?: bigint },
  cursor: InstantMs,
): Planned | undefined {
  const fired = Number(row.fired ?? 0n)
  return decide(undecidedOf(row), { now: cursor, cursor, live: 0, retrying: 0, fired, endedAt: null }).next
}
