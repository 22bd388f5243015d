import { list, uuid } from "../codec.ts"
import { DEAD_COLUMNS, ENDED_COLUMNS, LIVE_COLUMNS, sorted } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids among `ids` of the runs that meet a filter, newest first in each store.
 *
 * One look-up for each id, apart (`offset 0`): a list or a join is planned as a scan of another index while the table
 * is empty. Guarantee: one snapshot. Locks: none. Index: the primary keys of runs and dead_letters, and attempts_by_run
 * (run) of the days between the bounds.
 */
export const listRunsById = statement({
  name: "runs/list-by-id",
  params: { ...LISTING_PARAMS, ids: list(uuid) },
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({
    found: `,
  live as materialized (
    select ${LIVE_COLUMNS}
    from {runs} as run
    where @asksLive and id = any (@ids)
  ),
  dead as materialized (
    select ${DEAD_COLUMNS}
    from {dead_letters}
    where @asksDead and run = any (@ids)
  ),
  ended as materialized (
    select ended.*
    from unnest(@ids) as wanted (value)
    cross join lateral (
      select ${ENDED_COLUMNS}
      from {attempts} as attempt
      where @asksEnded and run = wanted.value and run_state is not null
        and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
      offset 0
    ) as ended
  )`,
    live: sorted("live"),
    dead: sorted("dead"),
    ended: sorted("ended"),
  }),
})
