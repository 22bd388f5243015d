import { bigint, boolean, int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Moves a run to another pool. Returns where it stands now. No row means that it is running, gone, or in this pool.
 *
 * Call it in the transaction that locked the run (runs/lock-for-change).
 * Guarantee: a ready run gets the rank of this moment, because claims of the pool may have passed every earlier one. A
 * run that stands in line under a limit keeps its place in that line. A run that waits or is parked stays so.
 * Locks: the run's row.
 * Index: the primary key of runs.
 */
export const moveRun = statement({
  name: "runs/move",
  params: { id: uuid, pool: text },
  returns: { pool: text, solo: boolean, priority: int, rank: bigint, state: text },
  plan: "index",
  sql: `
  update {runs} as run
  set pool = @pool,
    rank = case when stage = 'queued' then (date_part('epoch', {now}) * 1000000)::bigint else rank end
  where id = @id and lease is null and pool <> @pool
  returning pool, solo, priority, rank, {schema}.state(run) as state
`,
})
