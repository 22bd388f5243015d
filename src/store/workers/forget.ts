import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Removes leases that have been dead for longer than `afterMs` and hold no runs.
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
    and not exists (select from {runs} as run where run.state = 'running' and run.lease = worker.lease)
`,
})
