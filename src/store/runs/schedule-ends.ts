/**
 * Records in schedule_ends how the runs of a schedule ended. All statements that end runs share these parts.
 *
 * Excluded: backfilled runs, because their end says nothing about the schedule now, and runs of deleted schedules. Each
 * schedule is looked up by itself, because a join would read all schedules.
 * Locks: one row per schedule, in the order of their ids, so that two batches never wait for each other.
 * Index: the primary keys of schedule_ends and schedules.
 */

/**
 * A value that is not a schedule id is not looked up, so that one bad row does not keep a whole batch from settling.
 */
function isThere(row: string): string {
  return `(
        select true
        from {schedules}
        where id = (
          case when length(${row}.schedule) = 36 and ${row}.schedule !~ '[^0-9a-f-]' then ${row}.schedule end
        )::uuid
        limit 1
      )`
}

/**
 * For runs that succeeded or were cancelled. Reads schedule, occurrence, result, `cancelling` and `backfill` from
 * `gone`.
 */
export const SUCCEEDED = `
  kept_end as (
    insert into {schedule_ends} as entry (schedule, ended_at, result, succeeded_at)
    select distinct on (schedule) schedule, {now}, case when not cancelling then result end,
      case when not cancelling then {now} end
    from gone
    where schedule is not null and not backfill and ${isThere("gone")}
    order by schedule, cancelling, occurrence desc nulls last
    on conflict (schedule) do update
    set ended_at = excluded.ended_at,
      result = case when excluded.succeeded_at is null then entry.result else excluded.result end,
      succeeded_at = coalesce(excluded.succeeded_at, entry.succeeded_at),
      failures = case when excluded.succeeded_at is null then entry.failures else 0 end
  )`

/** For runs that ended otherwise. Reads schedule, backfill, is_dead, error_code and error_message from `ended`. */
export const ENDED = `
  kept_end as (
    insert into {schedule_ends} as entry (schedule, ended_at, error, failed_at, failures)
    select schedule, {now},
      (array_agg(json_build_object('code', error_code, 'message', error_message)) filter (where is_dead))[1],
      case when bool_or(is_dead) then {now} end, count(*) filter (where is_dead)
    from ended
    where schedule is not null and not backfill and ${isThere("ended")}
    group by schedule
    order by schedule
    on conflict (schedule) do update
    set ended_at = excluded.ended_at,
      error = case when excluded.failed_at is null then entry.error else excluded.error end,
      failed_at = coalesce(excluded.failed_at, entry.failed_at),
      failures = entry.failures + excluded.failures
  )`

/** For statements that cancel runs. Reads schedule and backfill from `gone`. */
export const CANCELLED = `
  ended as (
    select schedule, backfill, false as is_dead, null::text as error_code, null::text as error_message
    from gone
  ),
  ${ENDED}`
