import { int, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Renews a lease. No row means that it is dead, and that its runs belong to other workers now.
 *
 * Locks: the lease's row. Renewing and marking dead lock the same row, so one of them comes first.
 */
export const renewLease = statement({
  name: "workers/renew",
  params: { lease: uuid, leaseMs: int },
  returns: { lease: uuid },
  sql: `
  update {workers}
  set expires_at = {now} + @leaseMs * interval '1 millisecond'
  where lease = @lease and not dead
  returning lease
`,
})
