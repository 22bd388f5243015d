import { list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { IS_HELD } from "./held.ts"

/**
 * Removes claims of dead leases of which nothing is running any more.
 *
 * Guarantee: what others hold at this moment, and what a claim that was under way takes later, stays to be found.
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
