import { boolean, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs of a lease that someone cancelled while they were running, or that others are to take the place of: those have
 * time to end by themselves, and are cancelled like the others after it.
 *
 * Index: runs_cancelling (id) where cancelling.
 */
export const findCancelled = statement({
  name: "runs/find-cancelled",
  params: { lease: uuid },
  returns: { id: uuid, is_replaced: boolean },
  plan: "index",
  sql: `
  select id, coalesce(end_by > {now}, false) as is_replaced
  from {runs}
  where cancelling and lease = @lease
`,
})
