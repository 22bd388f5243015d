import { boolean, double, instant, int, list, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"
import { STATS_ORIGIN } from "./sums.ts"

/**
 * The highest depths of each pool between two instants, step by step.
 *
 * Locks: none.
 * Index: the primary key of depths (step, at, pool).
 */
export const depthSeries = statement({
  name: "stats/depth-series",
  params: {
    from: instant,
    to: instant,
    stepMs: double,
    stored: text,
    pools: nullable(list(text)),
    limit: int,
  },
  returns: {
    at: instant,
    pool: text,
    waiting: whole,
    parked: whole,
    ready: whole,
    running: whole,
    capped: boolean,
    oldest_due_ms: whole,
    slots: int,
    used: int,
  },
  plan: "index",
  sql: `
  select date_bin(@stepMs * interval '1 millisecond', at, ${STATS_ORIGIN}) as at, pool,
    max(waiting) as waiting, max(parked) as parked, max(ready) as ready, max(running) as running,
    bool_or(capped) as capped, max(oldest_due_ms) as oldest_due_ms, max(slots) as slots, max(used) as used
  from {depths} as sample
  where step = @stored and sample.at >= @from and sample.at < @to and (@pools is null or pool = any (@pools))
  group by 1, 2
  order by 1, 2
  limit @limit
`,
})
