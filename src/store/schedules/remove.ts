import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes a schedule and its row of schedule_ends. Its runs and its rows of the ledger stay.
 *
 * Locks: its row.
 * Index: the primary keys of schedules and schedule_ends.
 */
export const removeSchedule = statement({
  name: "schedules/remove",
  params: { id: uuid },
  returns: {},
  sql: `
  with gone as (
    delete from {schedules}
    where id = @id
    returning id
  )
  delete from {schedule_ends}
  where schedule = any (array(select id::text from gone))
`,
})
