/**
 * Reads what is due in schedules, and when: one statement, the only one that an idle process runs.
 *
 * A process with newer zone data than the database records it here, before it looks at schedules in time zones.
 */
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { nextDueSchedule } from "../../store/schedules/next-due.ts"
import { raiseZoneData } from "../../store/schedules/raise-zone-data.ts"
import type { DueFloor } from "./due-floor.ts"

export interface Outlook {
  /** How long until there is something to do. */
  readonly inMs: number
  /** The pause of a schedule is over. */
  readonly hasPause: boolean
  /** A replaced run has not ended in its time. */
  readonly hasReplaced: boolean
  /** Schedules wait for a new plan by the zone data of this process. */
  readonly isToReplan: boolean
}

/** `floor` says from where on to look for due schedules. */
export function createOutlook(runtime: Runtime, events: Events, floor: DueFloor): () => Promise<Outlook> {
  const { database, facts } = runtime
  const { zoneData } = facts
  let told: string | undefined

  return async function look(): Promise<Outlook> {
    const next = await floor.look(async (from) => {
      const [seen] = await database.run(nextDueSchedule, { zoneData, from })
      return { ...seen, firstMs: seen?.first_at ?? from }
    })
    const newest = next.newest_tzdb ?? null
    if (newest === null || newest < zoneData) {
      await database.run(raiseZoneData, { zoneData })
      // The statement ignored schedules in time zones.
      floor.forget()
      return look()
    }
    if (newest > zoneData && newest !== told) {
      events.emit({ type: "zones.outdated", own: zoneData, newest })
      told = newest
    }
    return {
      inMs: next.in_ms ?? Number.POSITIVE_INFINITY,
      hasPause: next.has_pause ?? false,
      hasReplaced: next.has_replaced ?? false,
      isToReplan: next.is_to_replan ?? false,
    }
  }
}
