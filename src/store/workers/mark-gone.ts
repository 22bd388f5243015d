import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks leases dead whose processes are proven to have ended, without waiting until they expire.
 *
 * Guarantee: as with workers/mark-dead, nothing can be done any more under what is marked. The fence holds, whatever the
 * proof was worth.
 * Locks: the rows of these leases.
 */
export const markGoneWorkers = statement({
  name: "workers/mark-gone",
  params: { leases: list(uuid) },
  returns: { lease: uuid },
  sql: `
  update {workers}
  set dead = true
  where lease = any (@leases) and not dead
  returning lease
`,
})
