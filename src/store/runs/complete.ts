import { statement } from "../statement.ts"
import { COMPLETE_COLUMNS, COMPLETE_PARAMS, completing } from "./completing.ts"

/**
 * Writes down attempts that succeeded: what nearly all of them do, and so the cheapest way to do that. Says how many
 * there were, and about the rest only what is out of the ordinary.
 *
 * For runs that come from no schedule; `runs/complete-scheduled` is for batches with some that do.
 * A run that someone cancelled in the meantime ends as cancelled (`cancelled`), its result unkept. `completed` names
 * those that were this worker's, if some were not. `limit_keys` are the limits whose lines may move on. A list that is
 * empty is all nulls: no logs, results that are null.
 * Fence: (lease, claim) of each run, and a lease that is not dead.
 * Guarantee: a run leaves `runs` in the same statement in which history receives it, its key is free or remembered, its
 * place under limits given up. Whichever way the runs of a batch end, they all end: so they need not be locked first, and a
 * row that others changed meanwhile is judged anew, with its claim.
 * Locks: the rows, in the order in which they are given: nobody else locks several of them.
 * Index: the primary keys of runs, keys and run_limits. Hashed, because the pair of id and claim would otherwise be
 * looked for once per row.
 */
export const completeRuns = statement({
  name: "runs/complete",
  params: COMPLETE_PARAMS,
  returns: COMPLETE_COLUMNS,
  plan: "hashed",
  sql: completing(),
})
