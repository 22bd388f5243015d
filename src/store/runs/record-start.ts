import { bigint, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes down that the handler of a run is about to start, so that a loss of its worker is charged to it. No row
 * means that the run is not this worker's any more.
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
