import { bigint, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { IS_HELD } from "./held.ts"

/**
 * Removes claims of one lease that are said to have ended, if they have.
 *
 * Guarantee: what is still held keeps its claim, whatever anyone says. Without it nobody would ever take the runs back.
 * Apart from the claim itself, which would have to prepare for it every time, and needs it once in a hundred times.
 * Locks: the rows it removes.
 * Index: the primary keys of claims and runs.
 */
export const forgetEndedClaims = statement({
  name: "claims/forget-ended",
  params: { lease: uuid, claims: list(bigint) },
  returns: {},
  plan: "index",
  sql: `
  delete from {claims} as claim
  where lease = @lease and claim = any (@claims) and ${IS_HELD} is null
`,
})
