/**
 * The work of the tick besides making runs: it ends pauses, pauses schedules whose runs die, and ends replaced runs
 * that did not end in their time.
 *
 * Each schedule has its own transaction, so a faulty or locked schedule delays no other.
 */
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Scheduled } from "../../schedule/decide.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { endOverdueRuns } from "../../store/runs/end-overdue.ts"
import { overduePauses } from "../../store/schedules/overdue-pauses.ts"
import type { Statement } from "../../store/statement.ts"
import type { Effects } from "../effects.ts"
import type { ReadyLane } from "../queue/lane.ts"
import { type ChangeRequest, change, type StoredSchedule } from "./change.ts"
import { scheduledOf } from "./decisions.ts"
import { DISPLACED_CODE, type Displaced } from "./displace.ts"
import { paused, resumed } from "./pausing.ts"
import { isZoneDataOutdated } from "./zone-data.ts"

type Paused = typeof overduePauses extends Statement<infer _, infer Row> ? Row : never

export interface ScheduleCareParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly onReady: (lane: ReadyLane) => void
  /** Runs wait under these keys. */
  readonly onParked: (keys: readonly string[]) => void
  /** Newer runs have replaced these runs. */
  readonly onDisplaced: (displaced: readonly Displaced[]) => void
  /** Puts a faulty schedule into the state `error`. */
  readonly setAside: (schedule: Paused, error: unknown) => Promise<void>
}

export interface ScheduleCare {
  readonly endPauses: () => Promise<void>
  /**
   * Pauses a schedule if enough of its runs have died in a row. The pause begins at the last death, so that no
   * occurrence counts as missed. Returns whether it paused.
   */
  readonly pauseSpent: (schedule: { id: string; tenant: string; name: string }) => Promise<boolean>
  readonly endOverdueRuns: () => Promise<void>
}

/** A locked schedule must not delay the tick. */
const LIMITS = { locksWithinMs: 500, deadlineMs: 5_000 }
const MOST_AT_ONCE = 100
/** How soon to try again to resume a schedule whose runs must end first. */
const BEHIND_REST_MS = 1_000
const OVERDUE = "A newer occurrence of its schedule takes its place, and it did not end in its time"
const ACTOR = "carillon"

export function createScheduleCare(parts: ScheduleCareParts): ScheduleCare {
  const { runtime, events, setAside, onReady, onParked, onDisplaced } = parts
  const { database } = runtime

  /** The tick itself continues with schedules that became due, so a changed schedule wakes no scheduler. */
  function tell({ ready = [], admit = [], displaced = [], events: told = [] }: Effects): void {
    if (admit.length > 0) onParked(admit)
    for (const lane of ready) onReady(lane)
    onDisplaced(displaced)
    for (const event of told) events.emit(event)
  }

  /** Returns whether there was anything to change. */
  async function changeAndTell(request: ChangeRequest, how: Parameters<typeof change>[2]): Promise<boolean> {
    const { answer, effects } = await change(runtime, { ...request, limits: LIMITS }, how)
    tell(effects)
    return answer
  }

  async function endPause(schedule: Paused): Promise<void> {
    const { tenant, name } = schedule
    const by = { actor: ACTOR, reason: "the pause was over" }
    const resumption = { tenant, name, by, action: "schedule.resume" }
    const isOver = ({ state, resume_at: at, now_ms: now }: StoredSchedule) =>
      state === "paused" && at !== null && at <= now
    try {
      await changeAndTell(resumption, (row) => (isOver(row) ? resumed(row) : undefined))
    } catch (error) {
      if (isBehind(error)) {
        // The occurrences that it missed before the pause must run first.
        await changeAndTell({ ...resumption, action: "schedule.wait" }, (row) =>
          isOver(row) ? paused(row, row.paused_at ?? row.cursor, row.now_ms + BEHIND_REST_MS, by) : undefined,
        )
      } else if (isZoneDataOutdated(error)) return
      else if (isItsOwnFault(error)) await setAside(schedule, error)
      else throw error
    }
  }

  return {
    endPauses: async () => {
      for (const schedule of await database.run(overduePauses, {
        zoneData: runtime.facts.zoneData,
        limit: MOST_AT_ONCE,
      })) {
        // After a passing fault, the next tick tries again.
        await endPause(schedule).catch(() => {})
      }
    },
    pauseSpent: async ({ id, tenant, name }) => {
      const by = (failures: number) => ({ actor: ACTOR, reason: `${failures} of its runs died in a row` })
      let failures = 0
      const request = { tenant, name, by: { actor: ACTOR, reason: "too many of its runs died in a row" } }
      const isPaused = await changeAndTell({ ...request, action: "schedule.pause" }, (row) => {
        failures = row.failures
        if (row.id !== id || row.state !== "active" || !isSpent(scheduledOf(row), failures)) return undefined
        return paused(row, Math.max(row.failed_at ?? row.cursor, row.cursor), null, by(failures))
      }).catch((error: unknown) => {
        if (isItsOwnFault(error) && !isGone(error)) throw error
        return false
      })
      if (isPaused) events.emit({ type: "schedule.paused", schedule: id, name, failures })
      return isPaused
    },
    endOverdueRuns: async () => {
      const ended = await withPartitions(database, () =>
        database.run(endOverdueRuns, { code: DISPLACED_CODE, message: OVERDUE, limit: MOST_AT_ONCE }),
      )
      onDisplaced(
        ended.map(({ id, limit_keys: keys }) => ({
          run: id,
          isRunning: false,
          message: OVERDUE,
          keys: keys === null ? [] : (JSON.parse(keys) as string[]),
        })),
      )
    },
  }
}

export function isSpent({ pauseAfterFailures }: Scheduled, failures: number): boolean {
  return pauseAfterFailures !== null && failures >= pauseAfterFailures
}

function isBehind(error: unknown): boolean {
  return error instanceof CarillonError && error.code === "SCHEDULE_BEHIND"
}

function isGone(error: unknown): boolean {
  return error instanceof CarillonError && error.code === "SCHEDULE_NOT_FOUND"
}

/** Is the schedule at fault, and not the state of the database? */
export function isItsOwnFault(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return error instanceof CarillonError
  return error.code === "DATABASE_REFUSED_VALUE" || error.code === "DATABASE_FAULT"
}
