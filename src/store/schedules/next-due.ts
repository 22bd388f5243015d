import { boolean, instant, nullable, text, whole } from "../codec.ts"
import { ENDS_IN_TIME } from "../runs/end-overdue.ts"
import { statement } from "../statement.ts"

/**
 * When the scheduler of a process with this zone data has something to do: the next schedule is due, the next pause
 * ends, or the time of a replaced run is over. Negative for the past, null for never. A replaced run that keeps its
 * place until its handler returns does not count, because the scheduler must not end it.
 *
 * Also returns the newest zone data, and whether schedules wait for a new plan by it, which is due now. `first_at` is
 * when the first schedule is due, at the latest now. `from` is where to begin: before it are only dead index entries,
 * as far as is known. Guarantee: a process without the newest zone data learns of no schedule that it must not touch.
 * Index: schedules_due (next_at), schedules_due_by_zone (tzdb, next_at), schedules_resuming (resume_at), runs_ending
 * (end_by); the primary key of jobs.
 */
export const nextDueSchedule = statement({
  name: "schedules/next-due",
  params: { zoneData: text, from: instant },
  returns: {
    in_ms: nullable(whole),
    first_at: instant,
    has_pause: boolean,
    has_replaced: boolean,
    newest_tzdb: nullable(text),
    is_to_replan: boolean,
  },
  plan: "index",
  sql: `
  select ceil(
      date_part('epoch', least(due, due_by_zone, over, ending, case when is_to_replan then {now} end) - {now}) * 1000
    )::bigint as in_ms,
    least(due, due_by_zone, {now}) as first_at,
    coalesce(over <= {now}, false) as has_pause, coalesce(ending <= {now}, false) as has_replaced,
    (select tzdb from {zone_data}) as newest_tzdb, is_to_replan
  from (select (select tzdb from {zone_data} where tzdb = @zoneData) as tzdb) as mine
  cross join lateral (
    select exists (select from {schedules} where next_at is not null and tzdb < mine.tzdb)
        or exists (select from {schedules} where next_at is not null and tzdb > mine.tzdb) as is_to_replan,
      (select next_at from {schedules} where next_at >= @from and tzdb is null order by next_at limit 1) as due,
      (
        select next_at
        from {schedules}
        where next_at >= @from and tzdb = mine.tzdb
        order by next_at
        limit 1
      ) as due_by_zone,
      (
        select resume_at
        from {schedules} as schedule
        where resume_at is not null and (schedule.tzdb is null or mine.tzdb is not null)
        order by resume_at
        limit 1
      ) as over,
      (
        select end_by
        from {runs} as run
        where end_by is not null and ${ENDS_IN_TIME}
        order by end_by
        limit 1
      ) as ending
    -- Keeps the planner from evaluating each subquery again wherever it is used.
    offset 0
  ) as next
`,
})
