import { int } from "../codec.ts"
import { DEPTHS } from "../pools/depths.ts"
import { statement } from "../statement.ts"
import { STATS_ORIGIN } from "./sums.ts"

/**
 * Records what waits in each pool, in the row of the present minute and in the row of the present hour. The rows keep
 * the highest values. A pool in which nothing waits and nothing runs gets no row.
 *
 * Locks: the rows of the present minute and hour.
 * Index: those of pools/depths, and the primary key of depths.
 */
export const sampleDepths = statement({
  name: "stats/sample-depths",
  params: { most: int },
  returns: {},
  plan: "index",
  sql: `
  with recursive ${DEPTHS},
  moment as materialized (select {now} as at)
  insert into {depths} as stored
    (step, at, pool, waiting, parked, ready, running, capped, oldest_due_ms, slots, used)
  select step, date_bin(width, moment.at, ${STATS_ORIGIN}), pool_names.pool,
    coalesce(waiting, 0), coalesce(parked, 0), coalesce(ready, 0), coalesce(running, 0), coalesce(capped, false),
    greatest(0, coalesce(floor(extract(epoch from moment.at - oldest_due) * 1000), 0))::bigint,
    coalesce(slots, 0), coalesce(used, 0)
  from pool_names
  left join depth on depth.pool = pool_names.pool
  left join serving on serving.pool = pool_names.pool
  cross join moment
  cross join (values ('minute', interval '1 minute'), ('hour', interval '1 hour')) as steps (step, width)
  where depth.pool is not null or coalesce(used, 0) > 0
  on conflict (step, at, pool) do update
  set waiting = greatest(stored.waiting, excluded.waiting), parked = greatest(stored.parked, excluded.parked),
    ready = greatest(stored.ready, excluded.ready), running = greatest(stored.running, excluded.running),
    capped = stored.capped or excluded.capped,
    oldest_due_ms = greatest(stored.oldest_due_ms, excluded.oldest_due_ms),
    slots = greatest(stored.slots, excluded.slots), used = greatest(stored.used, excluded.used)
`,
})
