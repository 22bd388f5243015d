import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Removes leases that have been dead for longer than `afterMs` and hold no runs, because none of their claims is left.
 *
 * Locks: the rows it removes.
 */
export const forgetWorkers = statement({
  name: "workers/forget",
  params: { afterMs: int },
  returns: {},
  sql: `
  delete from {workers} as worker
  where dead and expires_at < {now} - @afterMs * interval '1 millisecond'
    and (select true from {claims} as claim where claim.lease = worker.lease limit 1) is null
`,
})
