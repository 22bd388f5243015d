/** The columns of a schedule that every reading statement selects. */
import { bigint, instant, int, json, nullable, text, uuid, whole } from "../codec.ts"

export const SCHEDULE_COLUMNS = {
  id: uuid,
  tenant: text,
  name: text,
  job: text,
  spec: json,
  input: json,
  settings: json,
  job_settings: nullable(json),
  state: text,
  version: int,
  cursor: instant,
  next_occurrence: nullable(instant),
  next_at: nullable(instant),
  fired: bigint,
  paused_at: nullable(instant),
  resume_at: nullable(instant),
  cause: nullable(json),
  created_at: instant,
  changed_at: instant,
  declared_by: nullable(text),
  declared_version: nullable(text),
  tzdb: nullable(text),
  last_civil: nullable(text),
  newest_tzdb: nullable(text),
  live: int,
  retrying: int,
  failures: int,
  failed_at: nullable(instant),
  ended_at: nullable(instant),
  now_ms: whole,
} as const

/**
 * The occurrences after `after` that the ledger has decided ahead of the cursor. Either a call skipped them
 * (`skipNext`) and an edit then moved the cursor back, or a backfill made runs of them during a pause.
 *
 * Index: the primary key of fires, in the months from there on.
 */
export function selectLeftOut(schedule: string, after: string): string {
  return `(
    select json_agg((extract(epoch from fire.occurrence) * 1000)::bigint)
    from {fires} as fire
    where fire.schedule = ${schedule}.id and fire.occurrence > ${after} and fire.generation = 1
      and (fire.reason = 'request' or fire.outcome = 'fired' and fire.occurrence > ${schedule}.cursor)
  )`
}

/** The select list, for a table alias `schedule`. */
export const SELECT_SCHEDULE = `
  schedule.id, schedule.tenant, schedule.name, schedule.job, schedule.spec, schedule.input, schedule.settings,
  (select jobs.settings from {jobs} as jobs where jobs.name = schedule.job) as job_settings,
  schedule.state, schedule.version, schedule.cursor, schedule.next_occurrence, schedule.next_at, schedule.fired,
  schedule.paused_at, schedule.resume_at, schedule.cause, schedule.created_at, schedule.changed_at,
  schedule.declared_by,
  (select version from {applications} as application where application.name = schedule.declared_by) as declared_version,
  schedule.tzdb, schedule.last_civil, (select zones.tzdb from {zone_data} as zones) as newest_tzdb,
  (
    select count(*) from (
      select from {runs} as run
      where run.schedule = schedule.id::text and not run.backfill
      limit 10000
    ) as live
  )::int as live,
  (
    select count(*) from (
      select from {runs} as run
      where run.schedule = schedule.id::text and not run.backfill and run.lease is null and run.cause is not null
      limit 10000
    ) as retrying
  )::int as retrying,
  coalesce((select ends.failures from {schedule_ends} as ends where ends.schedule = schedule.id::text), 0) as failures,
  (select ends.failed_at from {schedule_ends} as ends where ends.schedule = schedule.id::text) as failed_at,
  (select ends.ended_at from {schedule_ends} as ends where ends.schedule = schedule.id::text) as ended_at,
  (date_part('epoch', {now}) * 1000000)::bigint / 1000 as now_ms`
