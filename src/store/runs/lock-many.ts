import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Locks runs that live or are dead until the end of the transaction, after waiting for other transactions that change
 * them.
 *
 * Guarantee: what the next statement of this transaction reads of them holds until the transaction ends.
 * Locks: the rows of the runs and of the dead letters, each in the order of the ids. A claim skips them meanwhile.
 * Index: the primary keys of runs and dead_letters.
 */
export const lockRuns = statement({
  name: "runs/lock-many",
  params: { ids: list(uuid) },
  returns: {},
  plan: "index",
  sql: `
  with live as materialized (
    select from {runs} where id = any (@ids) order by id for update
  ),
  dead as materialized (
    select from {dead_letters} where run = any (@ids) order by run for update
  )
  select
  from live
  union all
  select
  from dead
`,
})
