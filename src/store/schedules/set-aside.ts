import { instant, int, json, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets a schedule aside that is itself at fault, so that it does not hold up the others. Says whether it did.
 *
 * Guarantee: only as it was read; one that was edited meanwhile may be right by now.
 * Locks: its row.
 * Index: the primary key of schedules.
 */
export const setAsideSchedule = statement({
  name: "schedules/set-aside",
  params: { id: uuid, cursor: instant, version: int, cause: json },
  returns: { id: uuid },
  sql: `
  update {schedules}
  set state = 'error', cause = @cause, next_at = null, next_occurrence = null
  where id = @id and cursor = @cursor and version = @version and state = 'active'
  returning id
`,
})
