import { list, text } from "../codec.ts"
import { DEAD_WALK, endedOf, liveOf, sorted } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids of filtered runs, newest first, where the ended runs of these schedules are few: all of them are read and
 * sorted, and so are the live ones, of which a schedule has few. Dead letters are walked.
 *
 * One look-up for each value, apart (`offset 0`): a list or a join is planned as a scan of another index while the
 * table is empty. Guarantee: one snapshot. `attempts/count-of-schedules` says beforehand how many are read. Locks:
 * none. Index: runs_by_schedule and attempts_by_occurrence (schedule, occurrence) where schedule is not null of the
 * days between the bounds, and the primary key of dead_letters, backwards.
 */
export const listRunsBySchedule = statement({
  name: "runs/list-by-schedule",
  params: { ...LISTING_PARAMS, ofSchedules: list(text) },
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({
    found: `,
  live as materialized (
    select live.*
    ${liveOf("ofSchedules", "schedule = wanted.value")}
  ),
  ended as materialized (
    select ended.*
    ${endedOf("ofSchedules", "schedule = wanted.value")}
  )`,
    live: sorted("live"),
    dead: DEAD_WALK,
    ended: sorted("ended"),
  }),
})
