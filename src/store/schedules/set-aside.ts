import { instant, int, json, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Puts a faulty schedule into the state `error`, so that it does not delay the others. No row means that it has
 * changed.
 *
 * Guarantee: changes the schedule only if it is as it was read. An edit in between may have repaired it.
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
