import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks every lease but the caller's dead, expired or not: for a process that is certainly the only one.
 *
 * Guarantee: as with workers/mark-dead, nothing can be done any more under what is marked.
 * Locks: the rows of the other leases.
 */
export const markOthersDead = statement({
  name: "workers/mark-others-dead",
  params: { own: uuid },
  returns: {},
  sql: `
  update {workers}
  set dead = true
  where not dead and lease <> @own
`,
})
