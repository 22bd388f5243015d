import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks the leases of processes that are proven to have ended as dead, before they expire.
 *
 * Guarantee: as with workers/mark-dead, a marked lease can no longer be used. The fence holds even if the proof was
 * wrong.
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
