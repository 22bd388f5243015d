import { instant, int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Schedules whose pauses have reached their end, the earliest end first. Returns schedules in time zones only to a
 * process with the newest zone data.
 *
 * Index: schedules_resuming (resume_at) where resume_at is not null.
 */
export const overduePauses = statement({
  name: "schedules/overdue-pauses",
  params: { zoneData: text, limit: int },
  returns: { id: uuid, tenant: text, name: text, cursor: instant, version: int },
  sql: `
  select id, tenant, name, cursor, version
  from {schedules}
  where resume_at <= {now} and (tzdb is null or @zoneData = (select zones.tzdb from {zone_data} as zones))
  order by resume_at
  limit @limit
`,
})
