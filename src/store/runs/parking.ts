/**
 * What the statements that park and unpark runs share: how they find rows without reading the whole backlog, and how
 * they move them.
 *
 * A statement walks an index in bounded steps, locks the rows it found, skips rows that another transaction holds, and
 * updates by ctid. Any number of processes can therefore move runs at once, each a different part.
 */
import { isKindThat } from "../limits/kinds.ts"

/**
 * `lane`: up to `@lanes` of the (pool, solo, priority) that have ready or running runs. The walk jumps from the first
 * entry of one lane to the first of the next. Needs `with recursive`.
 */
export const READY_LANES = `
  lane (pool, solo, priority, ordinal) as (
    (
      select pool, solo, priority, 1
      from {runs}
      where stage = 'queued'
      order by pool, solo, priority desc
      limit 1
    )
    union all
    select next.pool, next.solo, next.priority, lane.ordinal + 1
    from lane
    cross join lateral (
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool = lane.pool and solo = lane.solo and priority < lane.priority
        order by priority desc
        limit 1
      )
      union all
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool = lane.pool and solo > lane.solo
        order by solo, priority desc
        limit 1
      )
      union all
      (
        select pool, solo, priority
        from {runs}
        where stage = 'queued' and pool > lane.pool
        order by pool, solo, priority desc
        limit 1
      )
      limit 1
    ) as next
    where lane.ordinal < @lanes
  )`

/**
 * `parked`: every (job, pool) that has runs parked for this reason, found by the same kind of walk. Needs `with
 * recursive`.
 */
export function groupsParkedFor(why: ParkedFor): string {
  return `
  parked (job, pool) as (
    (
      select job, pool
      from {runs}
      where stage = 'parked' and parked_for = '${why}'
      order by job, pool
      limit 1
    )
    union all
    select next.job, next.pool
    from parked
    cross join lateral (
      select job, pool
      from {runs}
      where stage = 'parked' and parked_for = '${why}' and (job, pool) > (parked.job, parked.pool)
      order by job, pool
      limit 1
    ) as next
  )`
}

/**
 * `held`: paused ones among the first `@depth` ready runs of each lane. No index leads
 * from a job or a tenant to its ready runs, because every run would pay for it, and few are paused. So the front of the
 * lanes is read, which is where claims would meet them. Deeper runs move forward by themselves.
 */
export function frontOfLanes(kind: "job" | "tenant"): string {
  return `
  seen as (
    select run.tuple, run.${kind}
    from lane
    cross join lateral (
      select ctid as tuple, ${kind}
      from {runs}
      where stage = 'queued' and lease is null and pool = lane.pool and solo = lane.solo and priority = lane.priority
      order by rank
      limit @depth
    ) as run
    where exists (select from {pauses} where kind = '${kind}')
  ),
  ${hold(`
      select tuple
      from seen
      where ${kind} = any (array(select name from {pauses} where kind = '${kind}'))
    `)}`
}

/** The reasons that the mover handles. Runs parked for a limit are moved by admission. */
export type ParkedFor = "pause" | "tenant" | "handler"

/** Is there a live worker that has a handler for the job of `of` and serves its pool? */
export function isHandled(of: string): string {
  return existsWorker(of, "not worker.dead and worker.expires_at > {now}")
}

/**
 * Is there such a worker that lives, or may return in a moment?
 *
 * A worker is gone only when it is dead and its lease has expired. After an outage of the database all leases have
 * expired and no worker is marked dead. A process that stops for a deployment is soon followed by another.
 */
export function isExpected(of: string): string {
  return existsWorker(of, "(not worker.dead or worker.expires_at > {now})")
}

/**
 * A worker with an empty job list runs a version that does not report its jobs yet. It counts as able to run any job.
 */
function existsWorker(of: string, which: string): string {
  return `exists (
      select
      from {workers} as worker
      where ${which} and ${of}.pool = any (worker.pools)
        and (${of}.job = any (worker.jobs) or worker.jobs = '{}')
    )`
}

/**
 * `held`: up to `@limit` of the rows at the ctids that `tuples` selects, locked in their present version. Check the
 * state in the result, because only the locked version is current. Select many more tuples than the limit, so that
 * processes that move runs at once lock different ones.
 */
export function hold(tuples: string): string {
  return `
  held as materialized (
    select ctid as tuple, {schema}.state(run) as state
    from {runs} as run
    where ctid = any (array(${tuples}))
    limit @limit
    for no key update skip locked
  )`
}

/**
 * Does a run lack a place under a limit? A one-row subquery, because PostgreSQL may answer `exists` for all runs at
 * once with a table scan.
 */
export const LACKS_PLACE = `(
        select true from {run_limits} as entry where entry.run = run.id and entry.admitted is not true limit 1
      )`

/** Has the run been claimed before, and does it return for another attempt? It may have done half of its work. */
export const IS_AT_WORK = "cause is not null and cause <> 'replayed'"

/**
 * The places that a parked run keeps, besides those of a run that returns for another attempt. Later occurrences must
 * not start before it.
 */
const KEPT_PLACES: Readonly<Record<ParkedFor, string>> = {
  pause: isKindThat("keepsPlace"),
  tenant: isKindThat("keepsPlace"),
  // Schedules that share a key do not wait for a run whose job no worker knows any more.
  handler: isKindThat("keepsUnhandled"),
}

/** Is the group `parked` of none of the pauses for which runs are parked? */
export const NOT_PAUSED = `
      not exists (select from {pauses} as pause where pause.kind = 'job' and pause.name = parked.job)
      and not exists (select from {pauses} as pause where pause.kind = 'pool' and pause.name = parked.pool)
      and not exists (select from {pauses} where kind = 'everything')`

/**
 * Parks the rows of `held` (tuple, state) that are still ready. Returns how many were `found` and how many were parked.
 *
 * Runs under limits give up their places, and `limit_keys` are the keys that have room now. A run of a schedule keeps
 * its place in the overlap line: without it the next occurrence could become ready and be claimed first after the
 * pause. If schedules share the key and no worker knows the job, only a run that returns for another attempt keeps it.
 */
export function park(why: ParkedFor): string {
  return `
  moved as (
    update {runs}
    set stage = 'parked', parked_for = '${why}'
    where ctid = any (array(select tuple from held where state = 'ready'))
    returning id, limited, ${IS_AT_WORK} as at_work
  ),
  given_up as (
    update {run_limits}
    set admitted = null
    where run = any (array(select id from moved where limited)) and not (${KEPT_PLACES[why]})
      and (not (${isKindThat("keepsPlace")}) or run = any (array(select id from moved where limited and not at_work)))
    returning key
  )
  select count(*)::int as runs, (select count(*)::int from held) as found,
    (select json_agg(distinct key) from given_up) as limit_keys
  from moved`
}

/**
 * Unparks the runs in `chosen` (tuple, rank): they become ready in the same order, at ranks of this moment and never at
 * their old ones. A run that lacks a place under a limit returns to the line of that limit.
 *
 * Returns how many were `found` and how many went into each lane. `limit_keys` are the keys that have runs in line now.
 */
export const UNPARK = `
  ordered as materialized (
    select tuple, row_number() over (order by rank) - 1 as turn
    from chosen
  ),
  moved as (
    update {runs} as run
    set stage = case when limited and ${LACKS_PLACE} then 'parked' else 'queued' end,
      parked_for = case when limited and ${LACKS_PLACE} then 'limit' end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint + turn
    from ordered
    where run.ctid = any (array(select tuple from chosen)) and run.ctid = ordered.tuple
    returning id, {schema}.state(run) as state, pool, solo, priority, run.rank
  ),
  in_line as (
    update {run_limits} as entry
    set admitted = false,
      -- Runs of a schedule stay in the order of their occurrences.
      rank = case when ${isKindThat("isOrdered")} then entry.rank else moved.rank end
    from moved
    where entry.run = any (array(select id from moved where state = 'parked')) and entry.run = moved.id
      and admitted is not true
    returning key
  )
  select state, pool, solo, priority, min(rank) as rank, count(*)::int as runs,
    (select count(*)::int from chosen) as found, (select json_agg(distinct key) from in_line) as limit_keys
  from moved
  group by state, pool, solo, priority`
