/**
 * Reports when dead letters grow, and when they no longer do.
 *
 * All processes look in turns. The database keeps what was reported, so that all processes together report it once.
 */
import type { Events } from "../../observe/events.ts"
import { type GrowthAlarm, judgeGrowth } from "../../queue/growth-alarm.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { noteAlarm } from "../../store/alarms/note.ts"
import { takeAlarmTurn } from "../../store/alarms/take-turn.ts"
import { countGrowth } from "../../store/dead-letters/growth.ts"
import { createBell, type Loop } from "../loop.ts"

const NAME = "dead-letters.growing"
/** Between two looks, by whichever process. */
const EVERY_MS = 60_000
/** It counts no further. */
export const MOST_COUNTED = 10_000
/** The most kinds of failures that an event names. */
const MOST_KINDS = 10

/** `alarm` is undefined if the user has switched it off. */
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
    // Noted before the event: if this process dies now, the alarm is repeated within the hour and never doubled.
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
