import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { SCHEDULE_COLUMNS, SELECT_SCHEDULE } from "./columns.ts"

/**
 * A schedule by its name, for whoever is about to change it.
 *
 * Locks: its row, until the end of the transaction; waits for a tick that is writing it.
 * Index: schedules_name (tenant, name), runs_by_schedule, the primary key of jobs.
 */
export const lockSchedule = statement({
  name: "schedules/lock",
  params: { tenant: text, name: text },
  returns: SCHEDULE_COLUMNS,
  sql: `
  select ${SELECT_SCHEDULE}
  from {schedules} as schedule
  where schedule.tenant = @tenant and schedule.name = @name
  for no key update of schedule
`,
})
