import { instant, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Those of the given schedules whose runs have died so often in a row that they are to be paused, and since when.
 *
 * Index: the primary keys of schedules and schedule_ends.
 */
export const spentSchedules = statement({
  name: "schedules/spent",
  params: { ids: list(uuid) },
  returns: { id: uuid, tenant: text, name: text, failures: int, failed_at: instant },
  plan: "index",
  sql: `
  select schedule.id, tenant, name, failures, failed_at
  from {schedules} as schedule
  join {schedule_ends} as ends on ends.schedule = schedule.id::text
  where schedule.id = any (@ids) and state = 'active' and failed_at is not null
    and failures >= (settings ->> 'pauseAfterFailures')::int
`,
})
