import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * How many unfinished runs these schedules have, of those that have any; backfills aside.
 *
 * Guarantee: asked in the transaction that holds the schedules, it counts what was made by hand until then: whoever makes
 * a run by hand holds the schedule.
 * Index: runs_by_schedule (schedule, backfill, occurrence).
 */
export const liveRunsOf = statement({
  name: "schedules/live",
  params: { schedules: list(text) },
  returns: { schedule: text, live: int },
  plan: "index",
  sql: `
  select schedule, count(*)::int as live
  from {runs}
  where schedule = any (@schedules) and not backfill
  group by schedule
`,
})
