import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Counts the failures of a schedule anew: somebody has looked at it.
 *
 * Locks: its row of schedule_ends; waits for a run of it that is being settled.
 * Index: the primary key of schedule_ends.
 */
export const forgetFailures = statement({
  name: "schedules/forget-failures",
  params: { schedule: text },
  returns: {},
  sql: `update {schedule_ends} set failures = 0 where schedule = @schedule and failures > 0`,
})
