import { IS_HELD } from "../claims/held.ts"
import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a lease whose process has given back everything.
 *
 * Guarantee: refuses while a run is still held; such a lease is left to expire and be reaped.
 * The row stays as a tombstone: a claim that was under way may still come in, and what it took is then reaped
 * like the runs of any other dead lease. Without the row nobody would ever look for them.
 * Locks: the lease's row.
 * Index: the primary keys of claims and runs.
 */
export const retireWorker = statement({
  name: "workers/retire",
  params: { lease: uuid },
  returns: { lease: uuid },
  sql: `
  update {workers}
  set dead = true
  where lease = @lease
    and (select true from {claims} as claim where lease = @lease and ${IS_HELD} limit 1) is null
  returning lease
`,
})
