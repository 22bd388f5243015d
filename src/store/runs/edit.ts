import { bigint, boolean, int, json, nullable, text, uuid } from "../codec.ts"
import { isKindThat } from "../limits/kinds.ts"
import { statement } from "../statement.ts"

/**
 * Changes the priority, the tags or the input of a run. What is null stays. Returns where the run stands now. No row
 * means that it is running or gone.
 *
 * Call it in the transaction that locked the run (runs/lock-for-change).
 * Guarantee: a ready run with another priority gets the rank of this moment, because claims may have passed every
 * earlier one. Under limits it goes to the end of the line of its new priority. Runs of a schedule stay in the order of
 * their occurrences.
 * Locks: the run's row and its rows under limits.
 * Index: the primary keys of runs and run_limits.
 */
export const editRun = statement({
  name: "runs/edit",
  params: { id: uuid, priority: nullable(int), tags: nullable(json), input: nullable(json) },
  returns: { pool: text, solo: boolean, priority: int, rank: bigint, state: text, is_moved: boolean },
  plan: "index",
  sql: `
  with held as materialized (
    select id, priority
    from {runs}
    where id = @id and lease is null
    for no key update
  ),
  changed as (
    update {runs} as run
    set priority = coalesce(@priority, run.priority),
      rank = case
        when stage = 'queued' and run.priority <> @priority then (date_part('epoch', {now}) * 1000000)::bigint
        else rank
      end,
      tags = case
        when @tags is null then tags
        else nullif(array(select json_array_elements_text(@tags)), '{}')
      end,
      input = coalesce(@input, input)
    from held
    where run.id = @id and held.id = run.id
    returning run.id, pool, solo, run.priority, rank, {schema}.state(run) as state,
      run.priority <> held.priority as is_moved
  ),
  in_line as (
    update {run_limits}
    set priority = changed.priority,
      rank = case
        when ${isKindThat("isOrdered")} then {run_limits}.rank
        else (date_part('epoch', {now}) * 1000000)::bigint
      end
    from changed
    where run = @id and is_moved
  )
  select pool, solo, priority, rank, state, is_moved
  from changed
`,
})
