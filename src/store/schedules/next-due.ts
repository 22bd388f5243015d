import { boolean, double, nullable } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * How long it is until the next schedule is due, the next pause ends, or a run that was replaced has to have ended;
 * negative when that has been for a while, null when nothing will be. Says which of the latter two is there already.
 *
 * Index: schedules_due (next_at) where next_at is not null, schedules_resuming (resume_at) where resume_at is not null,
 * runs_ending (end_by) where end_by is not null.
 */
export const nextDueSchedule = statement({
  name: "schedules/next-due",
  params: {},
  returns: { in_ms: nullable(double), has_pause: boolean, has_replaced: boolean },
  plan: "index",
  sql: `
  select date_part('epoch', least(due, over, ending) - {now}) * 1000 as in_ms,
    coalesce(over <= {now}, false) as has_pause, coalesce(ending <= {now}, false) as has_replaced
  from (
    select (select next_at from {schedules} where next_at is not null order by next_at limit 1) as due,
      (select resume_at from {schedules} where resume_at is not null order by resume_at limit 1) as over,
      (select end_by from {runs} where end_by is not null order by end_by limit 1) as ending
  ) as next
`,
})
