import { bigint, boolean, instant, int, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { LACKS_PLACE } from "./parking.ts"

/**
 * Makes up to `limit` waiting runs ready that are due, the longest overdue first. Returns how many went into each lane.
 * A run under a limit is parked in the line of that limit, unless it kept its place while it waited.
 *
 * Guarantee: no run becomes ready early, by the database's clock. Ranks are assigned here: by due time, then by the
 * order of enqueueing.
 * Range: `from` is the low-water mark, below which lie dead index entries. Runs due at `to` or later are left alone.
 * Locks: the rows it moves. Rows that another transaction holds are skipped.
 * Index: runs_waiting (due_at) where stage = 'waiting', and the primary key of run_limits. Hashed, because PostgreSQL
 * would otherwise search the lists once per row.
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
    select ctid as tuple, due_at, rank
    from {runs}
    where stage = 'waiting' and due_at <= {now} and due_at >= @from and due_at < @to
    order by due_at
    limit @limit
    for no key update skip locked
  ),
  ordered as materialized (
    select tuple, row_number() over (order by due_at, rank) - 1 as turn
    from due
  ),
  promoted as (
    update {runs} as run
    set stage = case when limited and ${LACKS_PLACE} then 'parked' else 'queued' end,
      parked_for = case when limited and ${LACKS_PLACE} then 'limit' end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint + turn
    from ordered
    where run.ctid = any (array(select tuple from due)) and run.ctid = ordered.tuple
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
