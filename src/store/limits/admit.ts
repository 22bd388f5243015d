import { bigint, boolean, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes parked runs ready that have room under all their keys, and says into which lane each went.
 *
 * Guarantee: run in the transaction that holds the locks of all their keys (limits/try-lock) and has counted the room
 * (limits/room), so that a cap is never exceeded. They enter the order at ranks of this moment, as `ids` has them.
 * Locks: the runs' rows, in the order of their ids.
 * Index: the primary keys of runs and run_limits.
 */
export const admitRuns = statement({
  name: "limits/admit",
  params: { ids: list(uuid) },
  returns: { pool: text, solo: boolean, priority: int, rank: bigint },
  plan: "index",
  sql: `
  with held as materialized (
    select id
    from {runs}
    where id = any (@ids) and state = 'parked' and parked_for = 'limit'
    order by id
    for no key update
  ),
  moved as (
    update {runs} as run
    set stage = 'queued', parked_for = null, rank = (extract(epoch from {now}) * 1000000)::bigint + turn - 1
    from unnest(@ids) with ordinality as given (id, turn)
    where run.id = any (array(select id from held)) and run.id = given.id
    returning run.id, pool, solo, priority, rank
  ),
  admitted as (
    update {run_limits}
    set admitted = true
    where run = any (array(select id from moved))
  )
  select pool, solo, priority, rank
  from moved
`,
})
