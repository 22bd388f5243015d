import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks every other lease dead, expired or not. For a process that is certainly the only one.
 *
 * Guarantee: as with workers/mark-dead, a marked lease can no longer be used.
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
