import { json, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives the input of a schedule to those of its runs that nobody has started.
 *
 * Locks: the rows; one that is claimed at this moment keeps the input that it was claimed with.
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
