/**
 * Tells when dead letters are growing, and when they are not any more.
 *
 * All processes look, each in its turn, and what was told is kept in the database: so it is told once by all of them
 * together, whatever becomes of the one that told it.
 */
import type { Events } from "../../observe/events.ts"
import { type GrowthAlarm, judgeGrowth } from "../../queue/growth-alarm.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { noteAlarm } from "../../store/alarms/note.ts"
import { takeAlarmTurn } from "../../store/alarms/take-turn.ts"
import { countGrowth } from "../../store/dead-letters/growth.ts"
import { createBell, type Loop } from "../loop.ts"

const NAME = "dead-letters.growing"
/** Between two looks, whoever looks. */
const EVERY_MS = 60_000
/** How far it counts. */
export const MOST_COUNTED = 10_000
/** How many kinds of failures it names. */
const MOST_KINDS = 10

/** `alarm` is undefined where it is not wanted. */
export function createGrowth(runtime: Runtime, events: Events, alarm: GrowthAlarm | undefined): Loop {
  const { database } = runtime

  async function look({ atLeast, withinMs }: GrowthAlarm): Promise<void> {
    const [turn] = await database.run(takeAlarmTurn, { name: NAME, everyMs: EVERY_MS })
    if (!turn) return
    const failures = await database.run(countGrowth, { withinMs, most: MOST_COUNTED })
    const count = failures.reduce((sum, failure) => sum + failure.count, 0)
    const now = { count, isRaised: turn.is_raised, toldAgoMs: turn.told_ago_ms }
    const state = judgeGrowth({ atLeast, withinMs }, now)
    if (state === undefined) return
    // Noted first: if this process dies now, it is told again within the hour, and never twice at once.
    await database.run(noteAlarm, { name: NAME, isRaised: state !== "cleared" })
    events.emit({ type: NAME, state, count, withinMs, failures: failures.slice(0, MOST_KINDS) })
  }

  return {
    name: "growth",
    bell: createBell(runtime),
    tick: async () => {
      if (alarm !== undefined) await look(alarm)
      return EVERY_MS
    },
  }
}
