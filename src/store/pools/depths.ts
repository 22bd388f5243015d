import { boolean, instant, int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What waits in each pool, counted up to a cap, as a fragment for `with recursive`.
 *
 * Ready and running runs are counted lane by lane, at most `@most` in each of at most 1,000 lanes. Waiting runs are the
 * `@most` that are due next, of all pools together; of parked runs, `@most` under limits and `@most` others. No index
 * tells them apart by pool, and one more index would be written for every run.
 */
export const DEPTHS = `
  lane as (
    (
      select pool, solo, priority
      from {runs}
      where stage = 'queued'
      order by pool, solo, priority desc, rank
      limit 1
    )
    union all
    select following.pool, following.solo, following.priority
    from lane
    cross join lateral (
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool = lane.pool and solo = lane.solo and priority < lane.priority
        order by pool, solo, priority desc, rank
        limit 1
      )
      union all
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool = lane.pool and solo > lane.solo
        order by pool, solo, priority desc, rank
        limit 1
      )
      union all
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool > lane.pool
        order by pool, solo, priority desc, rank
        limit 1
      )
      limit 1
    ) as following
  ),
  queued as (
    select lane.pool, count(*) - count(run.lease) as ready, count(run.lease) as running,
      min(run.due_at) filter (where run.lease is null) as oldest_due, count(*) >= @most as capped
    from (select pool, solo, priority from lane limit 1000) as lane
    cross join lateral (
      select lease, due_at
      from {runs}
      where stage = 'queued' and pool = lane.pool and solo = lane.solo and priority = lane.priority
      order by pool, solo, priority desc, rank
      limit @most
    ) as run
    group by lane.pool, lane.solo, lane.priority
  ),
  waiting as (
    select pool, count(*) as waiting, sum(count(*)) over () >= @most as capped
    from (select pool from {runs} where stage = 'waiting' order by due_at limit @most) as run
    group by pool
  ),
  parked as (
    select pool, count(*) as parked, sum(count(*)) over () >= @most as capped
    from (
      select pool from {runs} where stage = 'parked' and parked_for <> 'limit' order by parked_for limit @most
    ) as run
    group by pool
  ),
  in_line as (
    select pool, count(*) as parked, sum(count(*)) over () >= @most as capped
    from (
      select distinct run
      from (select run from {run_limits} where not admitted order by key, priority desc, rank limit @most) as entry
    ) as entry
    cross join lateral (select pool from {runs} as held where held.id = entry.run and stage = 'parked') as run
    group by pool
  ),
  counted as (
    select pool, 0 as waiting, 0 as parked, ready, running, oldest_due, capped from queued
    union all
    select pool, waiting, 0, 0, 0, null, capped from waiting
    union all
    select pool, 0, parked, 0, 0, null, capped from parked
    union all
    select pool, 0, parked, 0, 0, null, capped from in_line
  ),
  depth as (
    select pool, sum(waiting)::bigint as waiting, sum(parked)::bigint as parked, sum(ready)::bigint as ready,
      sum(running)::bigint as running, min(oldest_due) as oldest_due, bool_or(capped) as capped
    from counted
    group by pool
  ),
  serving as (
    select served.pool, count(*)::int as workers, coalesce(sum(served.slots), 0)::int as slots,
      coalesce(sum(served.used), 0)::int as used
    from {workers} as worker
    cross join lateral unnest(worker.pools, worker.slots, worker.used) as served (pool, slots, used)
    where not dead and expires_at > {now}
    group by served.pool
  ),
  pool_names as (
    select pool from depth
    union
    select pool from serving
    union
    select name from {pauses} where kind = 'pool'
    union
    select settings ->> 'pool' from {jobs} where settings ->> 'pool' is not null
  )`

/**
 * Every pool that has runs, workers, a job or a pause, by name, with what waits in it.
 *
 * Locks: none.
 * Cost: bounded by `most`; see `DEPTHS` for what is counted.
 * Index: runs_queued, one step for each lane; runs_waiting; runs_parked; run_limits_parked and the primary key of runs.
 */
export const readPools = statement({
  name: "pools/depths",
  params: { name: nullable(text), most: int },
  returns: {
    name: text,
    waiting: int,
    parked: int,
    ready: int,
    running: int,
    capped: boolean,
    oldest_due: nullable(instant),
    workers: int,
    slots: int,
    used: int,
    paused_at: nullable(instant),
    ends_at: nullable(instant),
    actor: nullable(text),
    reason: nullable(text),
  },
  plan: "index",
  sql: `
  with recursive ${DEPTHS}
  select pool_names.pool as name, coalesce(waiting, 0)::int as waiting, coalesce(parked, 0)::int as parked,
    coalesce(ready, 0)::int as ready, coalesce(running, 0)::int as running, coalesce(capped, false) as capped,
    oldest_due, coalesce(workers, 0) as workers, coalesce(slots, 0) as slots, coalesce(used, 0) as used,
    paused_at, ends_at, actor, reason
  from pool_names
  left join depth on depth.pool = pool_names.pool
  left join serving on serving.pool = pool_names.pool
  left join {pauses} as pause on pause.kind = 'pool' and pause.name = pool_names.pool
  where @name is null or pool_names.pool = @name
  order by 1
`,
})
