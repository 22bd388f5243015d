import { bigint, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"
import { selectLeftOut } from "./columns.ts"

/**
 * Due schedules, the longest due first, with the facts for a decision: how many of their runs are unfinished, how the
 * last runs ended, the settings of their jobs, and the occurrences that are decided ahead of the cursor. `skip` leaves
 * the first schedules to other processes. `from` is where to begin, behind dead index entries.
 *
 * Guarantee: returns schedules in time zones only to a process with the newest zone data, and only if that data planned
 * them.
 * Locks: none. The writer takes the rows that are unchanged since this read (schedules/take).
 * Index: schedules_due (next_at), schedules_due_by_zone (tzdb, next_at), runs_by_schedule, the primary keys of jobs,
 * schedule_ends and fires.
 */
export const dueSchedules = statement({
  name: "schedules/due",
  params: { zoneData: text, from: instant, skip: int, limit: int, mostLive: int },
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
    live: int,
    retrying: int,
    failures: int,
    ended_at: nullable(instant),
    left_out: nullable(json),
    now_ms: whole,
  },
  plan: "index",
  sql: `
  select due.id, tenant, due.name, job, spec, due.settings, jobs.settings as job_settings, due.version, cursor, fired,
    runs.live, runs.retrying, coalesce(ends.failures, 0) as failures,
    ends.ended_at,
    -- A schedule that was never edited has no decided occurrences ahead of its cursor.
    case when due.version > 1 then ${selectLeftOut("due", "due.cursor")} end as left_out,
    (date_part('epoch', {now}) * 1000000)::bigint / 1000 as now_ms
  from (
    select *
    from (
      (
        select id, tenant, name, job, spec, settings, version, cursor, fired, next_at
        from {schedules}
        where next_at >= @from and next_at <= {now} and tzdb is null
        order by next_at
        limit @limit + @skip
      )
      union all
      (
        select id, tenant, name, job, spec, settings, version, cursor, fired, next_at
        from {schedules}
        where next_at >= @from and next_at <= {now} and tzdb = (select tzdb from {zone_data} where tzdb = @zoneData)
        order by next_at
        limit @limit + @skip
      )
    ) as either
    order by next_at
    limit @limit offset @skip
  ) as due
  left join {jobs} as jobs on jobs.name = due.job
  left join {schedule_ends} as ends on ends.schedule = due.id::text
  cross join lateral (
    select count(*)::int as live, (count(*) filter (where lease is null and cause is not null))::int as retrying
    from (select lease, cause from {runs} where schedule = due.id::text and not backfill limit @mostLive) as live
  ) as runs
  order by next_at
`,
})
