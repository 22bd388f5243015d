import { bigint, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"
import { selectLeftOut } from "./columns.ts"

/**
 * Active schedules whose plans come from other zone data than the newest, for a process that has the newest.
 *
 * Locks: none. The writer of the new plan takes the rows that are unchanged since this read (schedules/take).
 * Index: schedules_due_by_zone (tzdb, next_at), the primary keys of jobs and fires.
 */
export const outdatedSchedules = statement({
  name: "schedules/outdated",
  params: { zoneData: text, limit: int },
  returns: {
    id: uuid,
    tenant: text,
    name: text,
    job: text,
    spec: json,
    settings: json,
    job_settings: nullable(json),
    version: int,
    cursor: instant,
    fired: bigint,
    next_occurrence: nullable(instant),
    last_civil: nullable(text),
    left_out: nullable(json),
    now_ms: whole,
  },
  plan: "index",
  sql: `
  select id, tenant, schedule.name, job, spec, schedule.settings, jobs.settings as job_settings, schedule.version,
    cursor, fired, next_occurrence, last_civil,
    case when schedule.version > 1 then ${selectLeftOut("schedule", "schedule.cursor")} end as left_out,
    (date_part('epoch', {now}) * 1000000)::bigint / 1000 as now_ms
  from (
    (
      select id, tenant, name, job, spec, settings, version, cursor, fired, next_occurrence, last_civil
      from {schedules}
      where next_at is not null and tzdb < (select tzdb from {zone_data} where tzdb = @zoneData)
      limit @limit
    )
    union all
    (
      select id, tenant, name, job, spec, settings, version, cursor, fired, next_occurrence, last_civil
      from {schedules}
      where next_at is not null and tzdb > (select tzdb from {zone_data} where tzdb = @zoneData)
      limit @limit
    )
  ) as schedule
  left join {jobs} as jobs on jobs.name = schedule.job
  limit @limit
`,
})
