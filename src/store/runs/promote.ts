import { bigint, boolean, instant, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { WANTS_PLACE } from "./parking.ts"

/**
 * Makes up to `limit` waiting runs ready whose time has come, the longest due first, and says how many of them went
 * into which lane. Those under a limit are parked, in line for their place, unless they have kept it while they waited.
 *
 * Guarantee: nothing early, judged by the database's clock. The ranks are written here and not before, in the order in which
 * they were due; of those that were due at once, in which they were enqueued.
 * `from` is the low-water mark: below it lie dead index entries. What is due from `to` on is left alone.
 * Locks: the rows it moves; rows that others hold are skipped.
 * Index: runs_waiting (due_at) where stage = 'waiting', the primary key of run_limits. Hashed, because the lists would
 * otherwise be gone through once per row.
 */
export const promoteRuns = statement({
  name: "runs/promote",
  params: { from: instant, to: instant, limit: int },
  returns: {
    state: text,
    pool: text,
    solo: boolean,
    priority: int,
    runs: int,
    rank: bigint,
    last_due: instant,
  },
  plan: "hashed",
  sql: `
  with due as materialized (
    select ctid as place, due_at, rank
    from {runs}
    where stage = 'waiting' and due_at <= {now} and due_at >= @from and due_at < @to
    order by due_at
    limit @limit
    for no key update skip locked
  ),
  ordered as materialized (
    select place, row_number() over (order by due_at, rank) - 1 as turn
    from due
  ),
  promoted as (
    update {runs} as run
    set stage = case when limited and ${WANTS_PLACE} then 'parked' else 'queued' end,
      parked_for = case when limited and ${WANTS_PLACE} then 'limit' end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint + turn
    from ordered
    where run.ctid = any (array(select place from due)) and run.ctid = ordered.place
    returning id, {schema}.state(run) as state, pool, solo, priority, rank, due_at, limited
  ),
  in_line as (
    update {run_limits} as entry
    set admitted = false, rank = promoted.rank
    from promoted
    where entry.run = any (array(select id from promoted where state = 'parked')) and entry.run = promoted.id
      and admitted is not true
  )
  select state, pool, solo, priority, count(*)::int as runs, min(rank) as rank, max(due_at) as last_due
  from promoted
  group by state, pool, solo, priority
`,
})
