import { boolean, instant, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the schedules that are unchanged since they were read: same version, same cursor, active. Of schedules in time
 * zones, it takes those that the newest zone data planned, or with `plansAnew` those that other data planned.
 *
 * Guarantee: of all processes that have read a schedule, one takes it. The others find it locked or changed. A process
 * that no longer has the newest zone data takes no schedule in a time zone, however late it learns of the newer data.
 * Locks: the rows, until the end of the transaction, in the order of their ids. Skips rows that are locked.
 * Index: the primary key of schedules.
 */
export const takeSchedules = statement({
  name: "schedules/take",
  params: {
    ids: list(uuid),
    cursors: list(instant),
    versions: list(int),
    zoneData: text,
    plansAnew: boolean,
  },
  returns: { id: uuid },
  plan: "index",
  sql: `
  select schedule.id
  from {schedules} as schedule
  where schedule.id = any (@ids) and schedule.state = 'active'
    -- "is true" prevents a join, which would compare every pair of rows. The list is looked up in a hash.
    and ((schedule.id, schedule.cursor, schedule.version) in (
      select id, cursor, version
      from unnest(@ids, @cursors, @versions) as read (id, cursor, version)
    )) is true
    and (
      case when schedule.tzdb is null then not @plansAnew
      else (schedule.tzdb <> @zoneData) = @plansAnew and @zoneData = (select tzdb from {zone_data})
      end
    )
  order by schedule.id
  for no key update of schedule skip locked
`,
})
