import { bigint, boolean, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes parked runs ready that have room under all their keys. Returns them with their lanes.
 *
 * Guarantee: run in the transaction that holds the locks of `keys` (limits/try-lock) and has counted the room under
 * them (limits/room). A run that needs another key, or that is no longer parked, stays as it is. So a cap is never
 * exceeded. The runs get ranks of this moment, in the order of `ids`. Under each key they join its last wave
 * (limits/open-waves). A place that a run already holds stays in its wave, because its key may not be locked. Locks:
 * the runs' rows, in the order of their ids. Index: the primary keys of runs, run_limits and limit_waves.
 */
export const admitRuns = statement({
  name: "limits/admit",
  params: { ids: list(uuid), keys: list(text) },
  returns: { id: uuid, pool: text, solo: boolean, priority: int, rank: bigint },
  plan: "index",
  sql: `
  with held as materialized (
    select id
    from {runs}
    where id = any (@ids) and parked_for = 'limit'
      and (
        select true
        from {run_limits} as entry
        where entry.run = id and entry.admitted is not true and entry.key <> all (@keys)
        limit 1
      ) is null
    order by id
    for no key update
  ),
  moved as (
    update {runs} as run
    set stage = 'queued', parked_for = null, rank = (date_part('epoch', {now}) * 1000000)::bigint + turn - 1
    from unnest(@ids) with ordinality as given (id, turn)
    where run.id = any (array(select id from held)) and run.id = given.id
    returning run.id, pool, solo, priority, rank
  ),
  -- Read once, not for each run: while a session holds an old snapshot, the row of a key has many versions.
  open as materialized (
    select key, waves[cardinality(waves)] as wave
    from {limit_waves}
    where key = any (@keys)
  ),
  admitted as (
    update {run_limits} as entry
    set admitted = true,
      wave = coalesce((select wave from open where open.key = entry.key), 0)
    where run = any (array(select id from moved)) and admitted is not true
  )
  select id, pool, solo, priority, rank
  from moved
`,
})
