import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Locks a run until the end of the transaction, after waiting for other transactions that change it.
 *
 * Guarantee: the next statement of this transaction sees everything that the previous holder of the lock wrote, in
 * other tables as well.
 * Locks: the run's row.
 * Index: the primary key of runs.
 */
export const lockRun = statement({
  name: "runs/lock",
  params: { id: uuid },
  returns: {},
  plan: "index",
  sql: "select from {runs} where id = @id for no key update",
})
