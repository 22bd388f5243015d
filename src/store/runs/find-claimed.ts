import { bigint, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs that the given claims took. The claimer asks this after a claim whose answer was lost.
 *
 * Index: the primary keys of claims and runs.
 */
export const findClaimed = statement({
  name: "runs/find-claimed",
  params: { lease: uuid, claims: list(bigint) },
  returns: { id: uuid, claim: bigint },
  plan: "index",
  sql: `
  select id, claim
  from {runs}
  where id = any (array(select unnest(runs) from {claims} where lease = @lease and claim = any (@claims)))
    and lease = @lease and claim = any (@claims)
`,
})
