/**
 * Different editions of zone data in one database: the newest edition decides, and the database records which it is.
 *
 * A process with the newest edition replans schedules of other editions before it makes their runs. A process with an
 * older edition leaves all schedules in time zones alone and reports that: by its rules an occurrence may come too
 * early, too late or twice. The statements `schedules/next-due`, `due` and `take` enforce this, so that a process which
 * has not yet learned of the newer edition writes nothing by its own.
 *
 * A process with older data may still create schedules, and change what does not concern times. The row stores the
 * edition that computed the next time, so the schedule is replanned. Changes that decide occurrences are refused.
 */
import { CarillonError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { replan } from "../../schedule/replan.ts"
import type { outdatedSchedules } from "../../store/schedules/outdated.ts"
import type { Statement } from "../../store/statement.ts"
import { type ScheduleDecision, type ScheduleRow, scheduledOf, undecidedOf } from "./decisions.ts"

type OutdatedRow = typeof outdatedSchedules extends Statement<infer _, infer Row> ? Row : never

/** The columns that a new plan needs. */
type Replannable = ScheduleRow &
  Pick<OutdatedRow, "spec" | "cursor" | "fired" | "next_occurrence" | "last_civil">

/** Replans a schedule by the zone data of this process. Throws the faults of the schedule. */
export function replanned<Row extends Replannable>(row: Row): ScheduleDecision<Row> {
  const { cursor, next_occurrence: nextOccurrence, last_civil: lastCivil } = row
  const scheduled = undecidedOf(row)
  const decision = replan(scheduled, { cursor, nextOccurrence, lastCivil, fired: Number(row.fired) })
  return { row, decision, scheduled }
}

/** The edition to store with a next time from this process. Null for a schedule without a time zone. */
export function editionFor(row: Parameters<typeof scheduledOf>[0], { facts }: Runtime): string | null {
  return scheduledOf(row).isZoned ? facts.zoneData : null
}

interface Edition {
  readonly tzdb: string | null
  readonly newest_tzdb: string | null
}

/** Is the schedule in a time zone for which another process has newer data? */
export function isBeyondUs({ tzdb, newest_tzdb: newest }: Edition, { facts }: Runtime): boolean {
  return tzdb !== null && newest !== null && facts.zoneData < newest
}

/** Must the schedule be replanned before anything is decided about it? */
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

/** Was the change refused because another process has newer zone data? That process makes the change. */
export function isZoneDataOutdated(error: unknown): boolean {
  return error instanceof CarillonError && error.code === "ZONE_DATA_OUTDATED"
}
