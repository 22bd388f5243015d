/**
 * Zone data of different editions in one database: the newest that any process has come with decides, and raises what the
 * database says is the newest.
 *
 * A process that has it plans anew what others have planned by other data, and only then makes runs of it. One that has
 * not leaves every schedule alone that goes by a zone, and says so: by its rules an occurrence may come too early, too
 * late or twice. All that is kept by the statements themselves (schedules/next-due, due and take), so that a process
 * which does not know yet that there is newer data writes nothing by its own.
 *
 * A process with older data may still make schedules, and change what has nothing to do with times: the next time is only
 * ever remembered with the edition it was computed by, and planned anew. What would decide about occurrences is refused.
 */
import { CarillonError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { replan } from "../../schedule/replan.ts"
import type { outdatedSchedules } from "../../store/schedules/outdated.ts"
import type { Statement } from "../../store/statement.ts"
import { type Decided, type ScheduleRow, scheduledOf, undecidedOf } from "./decided.ts"

type OutdatedRow = typeof outdatedSchedules extends Statement<infer _, infer Row> ? Row : never

/** What has to be known of a schedule to plan it anew. */
type Replannable = ScheduleRow &
  Pick<OutdatedRow, "spec" | "cursor" | "fired" | "next_occurrence" | "last_civil">

/** A schedule that was planned by other zone data, planned by ours. Throws what is wrong with it. */
export function replanned<Row extends Replannable>(row: Row): Decided<Row> {
  const { cursor, next_occurrence: nextOccurrence, last_civil: lastCivil } = row
  const scheduled = undecidedOf(row)
  const decision = replan(scheduled, { cursor, nextOccurrence, lastCivil, fired: Number(row.fired) })
  return { row, decision, scheduled }
}

/** The edition to remember with a next time that was computed by ours; null for a schedule that goes by no zone. */
export function editionFor(row: Parameters<typeof scheduledOf>[0], { facts }: Runtime): string | null {
  return scheduledOf(row).isZoned ? facts.zoneData : null
}

interface Edition {
  readonly tzdb: string | null
  readonly newest_tzdb: string | null
}

/** Whether it goes by a zone of which somebody else knows more than this process. */
export function isBeyondUs({ tzdb, newest_tzdb: newest }: Edition, { facts }: Runtime): boolean {
  return tzdb !== null && newest !== null && facts.zoneData < newest
}

/** Whether it is to be planned anew before anything is decided about it. */
export function awaitsReplan(row: Edition & { readonly state: string }, runtime: Runtime): boolean {
  const isOther = row.tzdb !== null && row.tzdb !== runtime.facts.zoneData
  return row.state === "active" && isOther && !isBeyondUs(row, runtime)
}

export function zoneDataOutdated(name: string, newest: string | null, { facts }: Runtime): CarillonError {
  return new CarillonError(
    "ZONE_DATA_OUTDATED",
    `Schedule ${JSON.stringify(name)} goes by the clock of a time zone, and this process has older rules for those ` +
      `(${facts.zoneData || "unknown"}) than another one (${newest}). Update Node here, or make the change from there.`,
  )
}

/** Somebody with newer data has come in between: it is theirs to do. */
export function isZoneDataOutdated(error: unknown): boolean {
  return error instanceof CarillonError && error.code === "ZONE_DATA_OUTDATED"
}
