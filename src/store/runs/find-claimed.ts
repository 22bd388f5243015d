import { bigint, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs that one claim took. Asked about a claim whose answer was lost.
 *
 * Index: runs_leased (lease) where state = 'running'.
 */
export const findClaimed = statement({
  name: "runs/find-claimed",
  params: { lease: uuid, claim: bigint },
  returns: { id: uuid },
  plan: "index",
  sql: `
  select id
  from {runs}
  where state = 'running' and lease = @lease and claim = @claim
`,
})
