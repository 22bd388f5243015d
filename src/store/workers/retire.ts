import { IS_HELD } from "../claims/held.ts"
import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a lease whose process has given back all its runs.
 *
 * Guarantee: it refuses while the lease still holds a run. Such a lease is left to expire, and the reaper takes back
 * its runs.
 * The row stays as a tombstone. A claim that was in flight may still commit, and the reaper then takes back its runs
 * like those of any other dead lease. Without the row no reaper would look for them.
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
