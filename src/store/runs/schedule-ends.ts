/**
 * What is kept of the ends of a schedule's runs, in the words of every statement that ends them.
 *
 * A backfill is about the past: how that went says nothing about the schedule now.
 * Of a schedule that was deleted nothing is kept. Asked one by one: a join would read all schedules there are.
 * Locks: one row per schedule, in the order of their ids, so that two batches never wait for each other.
 * Index: the primary keys of schedule_ends and schedules.
 */

/** After `gone`, which has schedule, occurrence, result `cancelling` and `backfill` of runs that succeeded. */
export const SUCCEEDED = `
  kept_success as (
    insert into {schedule_ends} as entry (schedule, result, succeeded_at)
    select distinct on (schedule) schedule, result, {now}
    from gone
    where schedule is not null and not cancelling and not backfill
      and (select true from {schedules} where id = gone.schedule::uuid limit 1)
    order by schedule, occurrence desc nulls last
    on conflict (schedule) do update
    set result = excluded.result, succeeded_at = excluded.succeeded_at, failures = 0
  )`

/** After `died`, which has schedule, backfill, error_code and error_message of runs that are dead. */
export const DIED = `
  kept_failure as (
    insert into {schedule_ends} as entry (schedule, error, failed_at, failures)
    select schedule, (array_agg(json_build_object('code', error_code, 'message', error_message)))[1], {now}, count(*)
    from died
    where schedule is not null and not backfill
      and (select true from {schedules} where id = died.schedule::uuid limit 1)
    group by schedule
    order by schedule
    on conflict (schedule) do update
    set error = excluded.error, failed_at = excluded.failed_at, failures = entry.failures + excluded.failures
  )`
