import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets the failures in a row of a schedule to zero, because an operator has resumed it.
 *
 * Locks: its row of schedule_ends. Waits for a settle of one of its runs.
 * Index: the primary key of schedule_ends.
 */
export const forgetFailures = statement({
  name: "schedules/forget-failures",
  params: { schedule: text },
  returns: {},
  sql: `update {schedule_ends} set failures = 0 where schedule = @schedule and failures > 0`,
})
