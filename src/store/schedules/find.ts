import { json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { SCHEDULE_COLUMNS, SELECT_SCHEDULE, selectLeftOut } from "./columns.ts"

/**
 * A schedule by its name, with the coming occurrences that are already decided.
 *
 * Index: schedules_name (tenant, name), runs_by_schedule, the primary keys of jobs and fires.
 */
export const findSchedule = statement({
  name: "schedules/find",
  params: { tenant: text, name: text },
  returns: { ...SCHEDULE_COLUMNS, left_out: nullable(json) },
  sql: `
  select ${SELECT_SCHEDULE},
    ${selectLeftOut("schedule", "least(schedule.cursor, {now})")} as left_out
  from {schedules} as schedule
  where schedule.tenant = @tenant and schedule.name = @name
`,
})
