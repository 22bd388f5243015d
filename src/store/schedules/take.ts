import { instant, int, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the schedules that are still as they were read: the same version, with the same cursor, and active.
 *
 * Guarantee: of all who have read the same, one gets each. The others find it taken, or moved on.
 * Locks: their rows, until the end of the transaction, in the order of their ids; those that others hold are left out.
 * Index: the primary key of schedules.
 */
export const takeSchedules = statement({
  name: "schedules/take",
  params: { ids: list(uuid), cursors: list(instant), versions: list(int) },
  returns: { id: uuid },
  plan: "index",
  sql: `
  select schedule.id
  from {schedules} as schedule
  join unnest(@ids, @cursors, @versions) as read (id, cursor, version)
    on schedule.id = read.id and schedule.cursor = read.cursor and schedule.version = read.version
  where schedule.id = any (@ids) and schedule.state = 'active'
  order by schedule.id
  for no key update of schedule skip locked
`,
})
