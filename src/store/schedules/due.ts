import { bigint, double, instant, int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The schedules that are due, the longest first, as they are, with what has to be known to decide about them: how many
 * of their runs are not finished, and what is declared of their jobs.
 *
 * Locks: none. Whoever has decided takes the rows, if they are still as they were read (schedules/take).
 * Index: schedules_due (next_at) where next_at is not null, runs_by_schedule, the primary key of jobs.
 */
export const dueSchedules = statement({
  name: "schedules/due",
  params: { limit: int, mostLive: int },
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
    now_ms: double,
  },
  plan: "index",
  sql: `
  select due.id, tenant, due.name, job, spec, due.settings, jobs.settings as job_settings, due.version, cursor, fired,
    (
      select count(*)
      from (select from {runs} where schedule = due.id::text and not backfill limit @mostLive) as live
    )::int as live,
    date_part('epoch', {now}) * 1000 as now_ms
  from (
    select id, tenant, name, job, spec, settings, version, cursor, fired, next_at
    from {schedules}
    where next_at <= {now}
    order by next_at
    limit @limit
  ) as due
  left join {jobs} as jobs on jobs.name = due.job
  order by next_at
`,
})
