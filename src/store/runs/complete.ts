import { statement } from "../statement.ts"
import { COMPLETE_COLUMNS, COMPLETE_PARAMS, completing } from "./completing.ts"

/**
 * Settles attempts that succeeded. Nearly all attempts do, so this is the cheapest way to settle. Returns the number of
 * completed runs, and details only about exceptions.
 *
 * Use it for runs without a schedule. `runs/complete-scheduled` takes batches that contain runs of schedules.
 * A run that was cancelled in the meantime ends as cancelled (`cancelled`) and its result is dropped. `completed` lists
 * the runs that this worker still held, and is null if it held all. `limit_keys` are the limits that may admit their
 * next run. An empty list means all nulls: no logs, or null results.
 * Fence: (lease, claim) of each run, and a lease that is not dead.
 * Guarantee: one statement removes the run from `runs`, writes its attempt to history, frees or remembers its key, and
 * gives up its places under limits. Every run of a batch leaves `runs`, so the rows need no lock beforehand. A row that
 * another transaction has changed is checked again, with its claim.
 * Locks: the rows, in the order given. No other statement locks several of them.
 * Index: the primary keys of runs, keys and run_limits. Hashed, because PostgreSQL would otherwise search the list of
 * (id, claim) pairs once per row.
 */
export const completeRuns = statement({
  name: "runs/complete",
  params: COMPLETE_PARAMS,
  returns: COMPLETE_COLUMNS,
  plan: "hashed",
  sql: completing(),
})
