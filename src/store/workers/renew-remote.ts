import { int, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Renews the lease of a worker that speaks HTTP, and reads what it has said of itself. No row means that the lease is
 * dead or not of such a worker.
 *
 * Guarantee: the lease of a process of our own is out of reach: its process id is not 0.
 * Locks: the lease's row. Renewing and marking dead lock the same row, so one of them comes first.
 * Index: the primary key of workers.
 */
export const renewRemoteLease = statement({
  name: "workers/renew-remote",
  params: { lease: uuid, leaseMs: int },
  returns: { name: text, pools: json, jobs: json, version: nullable(text) },
  sql: `
  update {workers}
  set expires_at = {now} + @leaseMs * interval '1 millisecond'
  where lease = @lease and pid = 0 and not dead
  returning hostname as name, to_json(pools) as pools, to_json(jobs) as jobs, version
`,
})
