import { double, instant, json, nullable, uuid } from "../codec.ts"
import { isKindThat } from "../limits/kinds.ts"
import { statement } from "../statement.ts"
import { IS_AT_WORK } from "./parking.ts"

/**
 * Makes a run wait until an instant, or for a time from now. Returns when it was due, when it is due, and the limit
 * keys that have room now. No row means that the run is running, held by its schedule, or gone.
 *
 * Call it in the transaction that locked the run (runs/lock-for-change).
 * Guarantee: the run leaves the claim index, and the promoter gives it a new rank when it is due. The time between due
 * and expiry stays as long as it was. A run that has not begun gives up its places and its turn under limits. A run of
 * a schedule that waits for another attempt keeps its place, as after a failure.
 * Locks: the run's row and its rows under limits.
 * Index: the primary keys of runs and run_limits.
 */
export const delayRun = statement({
  name: "runs/delay",
  params: { id: uuid, until: nullable(instant), byMs: nullable(double) },
  returns: { due_before: instant, due_at: instant, limit_keys: nullable(json) },
  plan: "index",
  sql: `
  with target as materialized (
    select coalesce(@until, {now} + @byMs * interval '1 millisecond') as due_at
  ),
  held as materialized (
    select id, due_at
    from {runs}
    where id = @id and lease is null and parked_for is distinct from 'hold'
    for no key update
  ),
  moved as (
    update {runs} as run
    set stage = 'waiting', parked_for = null, due_at = (select due_at from target),
      start_by = run.start_by + ((select due_at from target) - held.due_at)
    from held
    where run.id = @id and held.id = run.id
    returning run.id, run.limited, run.due_at, held.due_at as due_before, ${IS_AT_WORK} as at_work
  ),
  given_up as (
    update {run_limits}
    set admitted = null
    where run = any (array(select id from moved where limited)) and admitted is not null
      and not (
        admitted and ${isKindThat("keepsPlace")} and run = any (array(select id from moved where at_work))
      )
    returning key
  )
  select due_before, due_at, (select json_agg(key) from given_up) as limit_keys
  from moved
`,
})
