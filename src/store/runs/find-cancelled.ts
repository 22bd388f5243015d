import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs of a lease that someone cancelled while they were running.
 *
 * Index: runs_leased (lease) where state = 'running'.
 */
export const findCancelled = statement({
  name: "runs/find-cancelled",
  params: { lease: uuid },
  returns: { id: uuid },
  plan: "index",
  sql: `
  select id
  from {runs}
  where state = 'running' and lease = @lease and cancelling
`,
})
