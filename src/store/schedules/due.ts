import { bigint, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"
import { selectLeftOut } from "./columns.ts"

/**
 * The schedules that are due, the longest first, as they are, with what has to be known to decide about them: how many
 * of their runs are not finished, how the last ones ended, what is declared of their jobs, and what was left out ahead of
 * its time.
 * `skip` leaves out the first ones, for others to take. `from` is where to begin, behind dead index entries.
 *
 * Guarantee: those that go by a zone only for a process whose zone data is the newest there is, and only if they were
 * planned by it.
 * Locks: none. Whoever has decided takes the rows, if they are still as they were read (schedules/take).
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
    -- The first version of a schedule has never gone back behind what was left out.
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
