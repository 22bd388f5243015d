import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { SCHEDULE_COLUMNS, SELECT_SCHEDULE } from "./columns.ts"

/**
 * A schedule by its name.
 *
 * Index: schedules_name (tenant, name), runs_by_schedule, the primary key of jobs.
 */
export const findSchedule = statement({
  name: "schedules/find",
  params: { tenant: text, name: text },
  returns: SCHEDULE_COLUMNS,
  sql: `
  select ${SELECT_SCHEDULE}
  from {schedules} as schedule
  where schedule.tenant = @tenant and schedule.name = @name
`,
})
