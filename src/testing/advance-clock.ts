/** Moves the clock of a test from one due time to the next. */
import { FIRST_MS } from "../engine/schedules/due-floor.ts"
import { ACTION_NAMES } from "../operations/bulk/actions.ts"
import { nextBulk } from "../store/bulk/next.ts"
import type { Database } from "../store/database.ts"
import { nextDue } from "../store/runs/next-due.ts"
import { nextDueSchedule } from "../store/schedules/next-due.ts"
import type { Duration } from "../time/duration.ts"
import { toDate } from "../time/instant.ts"
import { durationOf, readNow, type SettableClock } from "./clock.ts"

export interface ClockAdvanceParts {
  readonly database: Database
  readonly clock: SettableClock
  readonly zoneData: () => string
  /** Executes everything that is due. */
  readonly drain: () => Promise<void>
  /** Whether the process has died. */
  readonly isOver: () => boolean
  /** The name of the last event's job, for the error message. */
  readonly last: () => string
}

export interface ClockAdvance {
  /**
   * Moves the clock forward. All due work on the way executes at its own time. The caller drains what is due at the
   * end.
   */
  readonly advance: (duration: Duration) => Promise<void>
}

/** How far `runs/next-due` looks ahead. */
const LOOK_AHEAD_MS = 86_400_000
/** No correct test needs more steps. */
const MOST_STEPS = 100_000

export function createClockAdvance(parts: ClockAdvanceParts): ClockAdvance {
  const { database, clock, drain } = parts

  /** The time until the next run, schedule or batch of a bulk operation is due. */
  async function nextInMs(): Promise<number> {
    const [run] = await database.run(nextDue, { from: 0 })
    const [schedule] = await database.run(nextDueSchedule, { zoneData: parts.zoneData(), from: FIRST_MS })
    const [bulk] = await database.run(nextBulk, { actions: ACTION_NAMES })
    const never = Number.POSITIVE_INFINITY
    return Math.max(0, Math.min(run?.in_ms ?? never, schedule?.in_ms ?? never, bulk?.in_ms ?? never))
  }

  return {
    advance: async (duration) => {
      const targetMs = (await readNow(database)) + durationOf(duration)
      await drain()
      for (let steps = 0; !parts.isOver(); steps += 1) {
        const inMs = await nextInMs()
        const dueMs = (await readNow(database)) + inMs
        if (dueMs > targetMs) break
        if (inMs === LOOK_AHEAD_MS) {
          // Nothing is due within the look-ahead.
          await clock.set(toDate(dueMs))
          continue
        }
        if (steps === MOST_STEPS) throw new Error(`advance() does not end: ${parts.last()} goes on and on`)
        await clock.set(toDate(dueMs))
        await drain()
      }
      await clock.set(toDate(targetMs))
    },
  }
}
