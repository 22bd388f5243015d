/**
 * What there is to do about schedules, and when: one question, which is all that an idle process asks.
 *
 * A process that comes with newer zone data than the database knows of says so here, before it looks at anything that goes
 * by a zone.
 */
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { nextDueSchedule } from "../../store/schedules/next-due.ts"
import { raiseZoneData } from "../../store/schedules/raise-zone-data.ts"
import type { DueFloor } from "./due-floor.ts"

export interface Outlook {
  /** How long it is until there is something to do. */
  readonly inMs: number
  /** A pause is over. */
  readonly hasPause: boolean
  /** A run that was replaced has had its time. */
  readonly hasReplaced: boolean
  /** Schedules wait to be planned by newer data, which this process has. */
  readonly isToReplan: boolean
}

/** `floor`: from where on to look for what is due. */
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
      // It has not seen what goes by a zone.
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
