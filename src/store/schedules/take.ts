import { boolean, instant, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the schedules that are still as they were read: the same version, with the same cursor, and active. Of those that
 * go by a zone, the ones that the newest zone data has planned, or to plan anew (`plansAnew`) the ones that other data has.
 *
 * Guarantee: of all who have read the same, one gets each. The others find it taken, or moved on. Whoever has not the
 * newest zone data any more, however late that is found out, gets none that goes by a zone.
 * Locks: their rows, until the end of the transaction, in the order of their ids; those that others hold are left out.
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
    -- "is true" keeps it from being planned as a join, which would compare each with each: it is looked up in a hash.
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
