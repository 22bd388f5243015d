import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { ATTEMPT_COLUMNS } from "./attempt-row.ts"
import { PAGE_COLUMNS, PAGE_ORDER, PAGE_PARAMS, PAGE_ROW, WITHIN_PAGE } from "./page.ts"

/**
 * A page of the attempts of all jobs, within whole days.
 *
 * There is no index by time alone, because every settle would pay for it. The statement skips through the index from
 * job to job and merges the pages of all jobs: 16 ms with 50 jobs, where sorting a day of a million attempts takes 250.
 * `firstDay` and `dayAfter` are midnights in UTC. Within whole partitions every index entry matches the days.
 * Locks: none.
 * Index: attempts_by_job (job, finished_at) in every partition of those days.
 */
export const listOfAll = statement({
  name: "attempts/list-of-all",
  params: { ...PAGE_PARAMS, firstDay: text, dayAfter: text },
  returns: PAGE_ROW,
  plan: "index",
  sql: `
  with recursive known (name) as (
    (
      select job
      from {attempts}
      where finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
      order by job
      limit 1
    )
    union all
    select next.job
    from known
    cross join lateral (
      select job
      from {attempts}
      where job > name
        and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
      order by job
      limit 1
    ) as next
  )
  select ${PAGE_COLUMNS}
  from known
  cross join lateral (
    select ${ATTEMPT_COLUMNS}
    from {attempts}
    where job = name
      and ${WITHIN_PAGE}
    order by ${PAGE_ORDER}
    limit @limit
  ) as page
  order by ${PAGE_ORDER}
  limit @limit
`,
})
