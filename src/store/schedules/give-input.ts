import { json, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives the input of a schedule to its runs that have not started.
 *
 * Locks: the rows. A run that a claim takes at this moment keeps its input.
 * Index: runs_by_schedule.
 */
export const giveInputToQueued = statement({
  name: "schedules/give-input",
  params: { schedule: text, input: json },
  returns: {},
  plan: "index",
  sql: `
  update {runs}
  set input = @input
  where schedule = @schedule and lease is null and stage <> 'waiting' and attempt = 0 and cause is null
`,
})
