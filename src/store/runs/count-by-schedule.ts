import { list, text } from "../codec.ts"
import { DEAD_WALK, ENDED_COLUMNS, LIVE_COLUMNS } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of these schedules meet a filter, up to a limit in each store.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more. Locks: none.
 * Index: runs_by_schedule, the primary key of dead_letters, and attempts_by_occurrence (schedule, occurrence) where
 * schedule is not null of the days between the bounds.
 */
export const countRunsBySchedule = statement({
  name: "runs/count-by-schedule",
  params: { ...COUNTING_PARAMS, ofSchedules: list(text) },
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({
    live: `select live.*, row_number() over () as place
    from unnest(@ofSchedules) as wanted (value)
    cross join lateral (
      select ${LIVE_COLUMNS}
      from {runs} as run
      where @asksLive and schedule = wanted.value
      offset 0
    ) as live
    limit @budget`,
    dead: DEAD_WALK,
    ended: `select ended.*, row_number() over () as place
    from unnest(@ofSchedules) as wanted (value)
    cross join lateral (
      select ${ENDED_COLUMNS}
      from {attempts} as attempt
      where @asksEnded and schedule = wanted.value and run_state is not null
        and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
      offset 0
    ) as ended
    limit @budget`,
  }),
})
