/**
 * Parts that the statements about parked runs have in common: how they find what they move without reading a
 * backlog, and what moving means.
 *
 * Rows are found by walking an index in bounded steps, then locked with those that others hold skipped, then
 * moved by ctid. So any number of processes can move at once, each of them what the others leave.
 */

/**
 * `lane`: every (pool, solo, priority) that has ready or running runs, up to `@lanes` of them, by going from the first
 * entry of one to the first of the next. Needs `with recursive`.
 */
export const READY_LANES = `
  lane (pool, solo, priority, place) as (
    (
      select pool, solo, priority, 1
      from {runs}
      where stage = 'queued'
      order by pool, solo, priority desc
      limit 1
    )
    union all
    select next.pool, next.solo, next.priority, lane.place + 1
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
    where lane.place < @lanes
  )`

/**
 * `parked`: every (job, pool) that has runs parked for this, found like the lanes. Needs `with recursive`.
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

/** The movable kinds: what waits for a limit is moved by whoever admits. */
export type ParkedFor = "pause" | "handler"

/** Whether a live worker has a handler for the job of `of` and serves its pool. */
export function isHandled(of: string): string {
  return existsWorker(of, "not worker.dead and worker.expires_at > {now}")
}

/**
 * Whether such a worker lives or may be back in a moment. It is gone when it is dead and its lease has run
 * out: after an outage of the database all leases have run out and nobody is dead, and a process that has
 * been stopped for a deployment is followed by another.
 */
export function isExpected(of: string): string {
  return existsWorker(of, "(not worker.dead or worker.expires_at > {now})")
}

/** A worker that names no jobs is of a version that does not tell yet: it is taken to know all. */
function existsWorker(of: string, which: string): string {
  return `exists (
      select
      from {workers} as worker
      where ${which} and ${of}.pool = any (worker.pools)
        and (${of}.job = any (worker.jobs) or worker.jobs = '{}')
    )`
}

/**
 * `held`: up to `@limit` of the rows at the ctids that `places` selects, locked as they are now. What their state is has to
 * be asked of the result, when they are locked. Many more places than the limit are welcome, so that those who move at
 * once take different ones.
 */
export function hold(places: string): string {
  return `
  held as materialized (
    select ctid as place, {schema}.state(run) as state
    from {runs} as run
    where ctid = any (array(${places}))
    limit @limit
    for no key update skip locked
  )`
}

/** Whether a run lacks a place. One row and not `exists`: that might be answered for all runs at once, by a scan. */
export const WANTS_PLACE = `(
        select true from {run_limits} as entry where entry.run = run.id and entry.admitted is not true limit 1
      )`

/** Whether a run has been taken before and is to be taken again: it has not ended, and may have done half of its work. */
export const IS_AT_WORK = "cause is not null and cause <> 'replayed'"

/** Which places a run keeps while it is parked, beside those of a run at work: the later ones may not begin before it. */
const KEPT: Readonly<Record<ParkedFor, string>> = {
  pause: "limit_name like 'overlap%'",
  // Schedules that share a key do not wait for one that no worker knows any more.
  handler: "limit_name like 'overlap%' and key like 'schedule:%'",
}

/**
 * Parks what is `held` (place, state) and still ready, and says how many were `found` and moved. Those under
 * limits give up their places: `limit_keys` are the keys that have room now. A run of a schedule keeps the place in which
 * its occurrence follows on others. If it gave that up, the next one could become ready, and would be claimed first when
 * the pause is over. With a key that schedules share, and no worker for it, only a run that is at work keeps it.
 */
export function park(why: ParkedFor): string {
  return `
  moved as (
    update {runs}
    set stage = 'parked', parked_for = '${why}'
    where ctid = any (array(select place from held where state = 'ready'))
    returning id, limited, ${IS_AT_WORK} as at_work
  ),
  given_up as (
    update {run_limits}
    set admitted = null
    where run = any (array(select id from moved where limited)) and not (${KEPT[why]})
      and (limit_name not like 'overlap%' or run = any (array(select id from moved where limited and not at_work)))
    returning key
  )
  select count(*)::int as runs, (select count(*)::int from held) as found,
    (select json_agg(distinct key) from given_up) as limit_keys
  from moved`
}

/**
 * Gives back the parked runs that stand in `chosen` (place, rank): ready at ranks of this moment, never at their old ones
 * but in the same order; or in line again when they lack a place under a limit. Says how many were `found`, and how many
 * went into which lane; `limit_keys` are the keys that have somebody in line now.
 */
export const UNPARK = `
  ordered as materialized (
    select place, row_number() over (order by rank) - 1 as turn
    from chosen
  ),
  moved as (
    update {runs} as run
    set stage = case when limited and ${WANTS_PLACE} then 'parked' else 'queued' end,
      parked_for = case when limited and ${WANTS_PLACE} then 'limit' end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint + turn
    from ordered
    where run.ctid = any (array(select place from chosen)) and run.ctid = ordered.place
    returning id, {schema}.state(run) as state, pool, solo, priority, run.rank
  ),
  in_line as (
    update {run_limits} as entry
    set admitted = false,
      -- Runs of a schedule stay in the order of their occurrences.
      rank = case when limit_name like 'overlap%' then entry.rank else moved.rank end
    from moved
    where entry.run = any (array(select id from moved where state = 'parked')) and entry.run = moved.id
      and admitted is not true
    returning key
  )
  select state, pool, solo, priority, min(rank) as rank, count(*)::int as runs,
    (select count(*)::int from chosen) as found, (select json_agg(distinct key) from in_line) as limit_keys
  from moved
  group by state, pool, solo, priority`
