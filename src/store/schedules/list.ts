import { int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { SCHEDULE_COLUMNS, SELECT_SCHEDULE } from "./columns.ts"

/**
 * Lists schedules by tenant and name, after a given one. Filters by tenant and by state.
 *
 * Index: schedules_name (tenant, name), runs_by_schedule, the primary key of jobs.
 */
export const listSchedules = statement({
  name: "schedules/list",
  params: {
    tenant: nullable(text),
    state: nullable(text),
    afterTenant: text,
    afterName: text,
    limit: int,
  },
  returns: SCHEDULE_COLUMNS,
  sql: `
  select ${SELECT_SCHEDULE}
  from {schedules} as schedule
  where (schedule.tenant, schedule.name) > (@afterTenant, @afterName)
    and (@tenant is null or schedule.tenant = @tenant) and (@state is null or schedule.state = @state)
  order by schedule.tenant, schedule.name
  limit @limit
`,
})
