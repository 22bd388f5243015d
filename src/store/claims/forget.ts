import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { IS_HELD } from "./held.ts"

/**
 * Removes claims of dead leases under which no run is left.
 *
 * Guarantee: a claim that another transaction holds stays, and so does one that was in flight and commits later.
 * Locks: the rows it removes.
 * Index: the primary keys of claims and runs.
 */
export const forgetClaims = statement({
  name: "claims/forget",
  params: { leases: list(uuid) },
  returns: {},
  plan: "index",
  sql: `
  delete from {claims} as claim
  where lease = any (@leases) and ${IS_HELD} is null
`,
})
