import { bigint, json, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records the progress of a handler. No row means that this worker no longer holds the run.
 *
 * Fence: (lease, claim), and a lease that is not dead.
 * Locks: the run's row.
 * Index: the primary key of runs.
 */
export const recordProgress = statement({
  name: "runs/record-progress",
  params: { id: uuid, lease: uuid, claim: bigint, progress: json },
  returns: { id: uuid },
  plan: "index",
  sql: `
  update {runs}
  set progress = @progress
  where id = @id and lease = @lease and claim = @claim
    and exists (select from {workers} where lease = @lease and not dead)
  returning id
`,
})
