import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Waits until nobody else is changing a run, and keeps others from it until the end of the transaction.
 *
 * Guarantee: the next statement of the transaction sees everything that whoever held it has written, beside the run as well.
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
