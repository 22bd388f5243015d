/**
 * What the tick does for schedules beside making runs: ends their pauses, pauses those whose runs die, and ends runs that
 * others were to take the place of.
 *
 * Each by itself: whatever is wrong with one, or whoever holds it, the others go on.
 */
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { Scheduled } from "../../schedule/decide.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { endOverdueRuns } from "../../store/runs/end-overdue.ts"
import { overduePauses } from "../../store/schedules/overdue-pauses.ts"
import type { Statement } from "../../store/statement.ts"
import { type ChangeParts, change, paused, resumed, type StoredSchedule } from "./change.ts"
import { scheduledOf } from "./decided.ts"
import { DISPLACED_CODE } from "./displace.ts"
import { isZoneDataOutdated } from "./zone-data.ts"

type Paused = typeof overduePauses extends Statement<infer _, infer Row> ? Row : never

export interface ScheduleCareParts extends Omit<ChangeParts, "onChanged" | "call"> {
  /** A schedule that is itself at fault. */
  readonly setAside: (schedule: Paused, error: unknown) => Promise<void>
}

export interface ScheduleCare {
  readonly endPauses: () => Promise<void>
  /** Pauses one if enough of its runs have died in a row: as of then, so that nothing counts as missed. Whether it did. */
  readonly pauseSpent: (schedule: { id: string; tenant: string; name: string }) => Promise<boolean>
  readonly endOverdueRuns: () => Promise<void>
}

/** What somebody else holds is not waited for longer than this, and no one call takes longer than that. */
const CALL = { locksWithinMs: 500, deadlineMs: 5_000 }
const MOST_AT_ONCE = 100
/** When to try again to resume one whose runs have to end first. */
const BEHIND_REST_MS = 1_000
const OVERDUE = "A newer occurrence of its schedule takes its place, and it did not end in its time"
const ACTOR = "carillon"

export function createScheduleCare(parts: ScheduleCareParts): ScheduleCare {
  const { runtime, events, setAside, onDisplaced } = parts
  const { database } = runtime
  const changing: ChangeParts = { ...parts, onChanged: () => {}, call: CALL }

  async function endPause(over: Paused): Promise<void> {
    const { tenant, name } = over
    const by = { actor: ACTOR, reason: "the pause was over" }
    const what = { tenant, name, by, action: "schedule.resume" }
    const isOver = ({ state, resume_at: at, now_ms: now }: StoredSchedule) =>
      state === "paused" && at !== null && at <= now
    try {
      await change(changing, what, (row) => (isOver(row) ? resumed(row) : undefined))
    } catch (error) {
      if (isBehind(error)) {
        // What it missed before the pause has to run first.
        await change(changing, { ...what, action: "schedule.wait" }, (row) =>
          isOver(row) ? paused(row, row.paused_at ?? row.cursor, row.now_ms + BEHIND_REST_MS, by) : undefined,
        )
      } else if (isZoneDataOutdated(error)) return
      else if (isItsOwnFault(error)) await setAside(over, error)
      else throw error
    }
  }

  return {
    endPauses: async () => {
      for (const over of await database.run(overduePauses, {
        zoneData: runtime.facts.zoneData,
        limit: MOST_AT_ONCE,
      })) {
        // What passes is tried again at the next tick.
        await endPause(over).catch(() => {})
      }
    },
    pauseSpent: async ({ id, tenant, name }) => {
      const by = (failures: number) => ({ actor: ACTOR, reason: `${failures} of its runs died in a row` })
      let failures = 0
      const what = { tenant, name, by: { actor: ACTOR, reason: "too many of its runs died in a row" } }
      const isPaused = await change(changing, { ...what, action: "schedule.pause" }, (row) => {
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

/** Not what the database suffers from at the moment. */
export function isItsOwnFault(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return error instanceof CarillonError
  return error.code === "DATABASE_REFUSED_VALUE" || error.code === "DATABASE_FAULT"
}
