import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records this zone data as the newest, if it is newer than the recorded one.
 *
 * Guarantee: the recorded edition never goes back, in any order of writers.
 * Locks: its one row.
 */
export const raiseZoneData = statement({
  name: "schedules/raise-zone-data",
  params: { zoneData: text },
  returns: {},
  sql: `
  insert into {zone_data} as newest (tzdb, raised_at)
  values (@zoneData, {now})
  on conflict (one) do update
  set tzdb = excluded.tzdb, raised_at = excluded.raised_at
  where newest.tzdb < excluded.tzdb
`,
})
