import { bigint, boolean, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * All runs that a lease holds, with their claims, and whether they are to end.
 *
 * Index: the primary keys of claims and runs.
 */
export const heldByLease = statement({
  name: "runs/held-by-lease",
  params: { lease: uuid },
  returns: { id: uuid, claim: bigint, cancelling: boolean },
  plan: "index",
  sql: `
  select id, claim, cancelling
  from {runs}
  where id = any (array(select unnest(runs) from {claims} where lease = @lease)) and lease = @lease
`,
})
