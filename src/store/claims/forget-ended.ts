import { bigint, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { IS_HELD } from "./held.ts"

/**
 * Removes those of the given claims of a lease whose runs have all ended.
 *
 * Guarantee: a claim that still holds a run stays, even if the caller takes it for ended. Without its claim the reaper
 * could not find the run.
 * A statement of its own: the claim would have to plan for it every time, and needs it once in a hundred times.
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
