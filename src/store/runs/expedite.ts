import { bigint, boolean, instant, int, nullable, text, uuid } from "../codec.ts"
import { isKindThat } from "../limits/kinds.ts"
import { statement } from "../statement.ts"
import { LACKS_PLACE } from "./parking.ts"

/**
 * Makes a run due now, and changes its priority if one is given. Returns its state before and after. No row means that
 * the run is parked, running or gone.
 *
 * Call it in the transaction that locked the run (runs/lock). The statement reads the run's places under limits, and
 * what it read before the lock would be stale.
 * Guarantee: a ready run that keeps its priority keeps its rank. Any other run gets the rank of this moment, never an
 * earlier one. A run that lacks a place under a limit is parked in the line of that limit.
 * Locks: the run's row.
 * Index: the primary keys of runs and run_limits.
 */
export const expediteRun = statement({
  name: "runs/expedite",
  params: { id: uuid, priority: nullable(int) },
  returns: {
    pool: text,
    solo: boolean,
    priority: int,
    rank: bigint,
    state: text,
    state_before: text,
    priority_before: int,
    due_before: instant,
  },
  plan: "index",
  sql: `
  with held as materialized (
    select id, {schema}.state(run) as state, priority, due_at
    from {runs} as run
    where id = @id and lease is null and stage <> 'parked'
    for no key update
  ),
  moved as (
    update {runs} as run
    set stage = case when limited and ${LACKS_PLACE} then 'parked' else 'queued' end,
      parked_for = case when limited and ${LACKS_PLACE} then 'limit' end,
      priority = coalesce(@priority, run.priority),
      rank = case
        when held.state = 'ready' and run.priority = coalesce(@priority, run.priority) then run.rank
        else (date_part('epoch', {now}) * 1000000)::bigint
      end,
      due_at = least(run.due_at, {now})
    from held
    where run.id = @id and held.id = run.id
    returning run.pool, run.solo, run.priority, run.rank, {schema}.state(run) as state,
      held.state as state_before, held.priority as priority_before, held.due_at as due_before
  ),
  in_line as (
    update {run_limits}
    set admitted = coalesce(admitted, false), priority = moved.priority,
      -- Runs of a schedule stay in the order of their occurrences.
      rank = case when ${isKindThat("isOrdered")} then {run_limits}.rank else moved.rank end
    from moved
    where run = @id
  )
  select pool, solo, priority, rank, state, state_before, priority_before, due_before
  from moved
`,
})
