import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Releases the runs that a pause with `hold` parked: ready in the order of their occurrences, or parked under their
 * limits. Returns their lanes, and the limit keys under which runs wait.
 *
 * Locks: the rows, in the order of their ids, and their places under limits.
 * Index: runs_by_schedule, the primary keys of runs and run_limits. Hashed, because a nested loop would read the lists
 * once per row.
 */
export const releaseHeldRuns = statement({
  name: "schedules/release-held",
  params: { schedule: text },
  returns: {
    state: text,
    pool: text,
    solo: boolean,
    priority: int,
    rank: bigint,
    limit_keys: nullable(json),
  },
  plan: "hashed",
  sql: `
  with held as materialized (
    select id, parked_for, occurrence
    from {runs}
    where id = any (array(select id from {runs} where schedule = @schedule and not backfill))
    order by id
    for no key update
  ),
  ordered as materialized (
    select id, row_number() over (order by occurrence, id) - 1 as turn
    from held
    where parked_for = 'hold'
  ),
  moved as (
    update {runs} as run
    set stage = case when limited then 'parked' else 'queued' end, parked_for = case when limited then 'limit' end,
      rank = (date_part('epoch', {now}) * 1000000)::bigint + turn
    from ordered
    where run.id = any (array(select id from ordered)) and run.id = ordered.id
    returning run.id, {schema}.state(run) as state, pool, solo, priority, rank, limited
  ),
  in_line as (
    update {run_limits}
    set admitted = false
    where run = any (array(select id from moved where limited))
    returning key
  )
  select state, pool, solo, priority, min(rank) as rank, (select json_agg(distinct key) from in_line) as limit_keys
  from moved
  group by state, pool, solo, priority
`,
})
