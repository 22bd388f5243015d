import { bigint, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records that the handler of a run is about to start, so that a loss of its worker is charged to the run. No row means
 * that this worker no longer holds the run.
 *
 * Fence: (lease, claim), and a lease that is not dead.
 * Locks: the run's row.
 * Index: the primary key of runs.
 */
export const recordStart = statement({
  name: "runs/record-start",
  params: { id: uuid, lease: uuid, claim: bigint },
  returns: { id: uuid },
  plan: "index",
  sql: `
  update {runs}
  set started = true
  where id = @id and lease = @lease and claim = @claim
    and exists (select from {workers} where lease = @lease and not dead)
  returning id
`,
})
