import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Counts the unfinished runs of schedules, without backfills. A schedule without such runs has no row.
 *
 * Guarantee: run in the transaction that has taken the schedules, it also counts the latest runs made by hand, because
 * `runNow` locks the schedule.
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
