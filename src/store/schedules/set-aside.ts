import { instant, int, json, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets a schedule aside that is itself at fault, active or about to be, so that it does not hold up the others. Says
 * whether it did.
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
  set state = 'error', cause = @cause, next_at = null, next_occurrence = null, paused_at = null, resume_at = null
  where id = @id and cursor = @cursor and version = @version and state in ('active', 'paused')
  returning id
`,
})
