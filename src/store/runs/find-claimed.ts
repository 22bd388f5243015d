import { bigint, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs that one claim took. Asked about a claim whose answer was lost.
 *
 * Index: the primary keys of claims and runs.
 */
export const findClaimed = statement({
  name: "runs/find-claimed",
  params: { lease: uuid, claim: bigint },
  returns: { id: uuid },
  plan: "index",
  sql: `
  select id
  from {runs}
  where id = any (array(select unnest(runs) from {claims} where lease = @lease and claim = @claim))
    and lease = @lease and claim = @claim
`,
})
