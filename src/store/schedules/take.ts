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
  where schedule.id = any (@ids) and schedule.state = 'active'
    -- "is true" keeps it from being planned as a join, which would compare each with each: it is looked up in a hash.
    and ((schedule.id, schedule.cursor, schedule.version) in (
      select id, cursor, version
      from unnest(@ids, @cursors, @versions) as read (id, cursor, version)
    )) is true
  order by schedule.id
  for no key update of schedule skip locked
`,
})
