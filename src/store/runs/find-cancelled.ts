import { boolean, json, nullable, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The runs of a lease that someone cancelled while they were running, with who did and why, or that others are to take the
 * place of: those have time to end by themselves, and are cancelled like the others after it.
 *
 * Index: runs_cancelling (id) where cancelling, audit_subject (subject, at).
 */
export const findCancelled = statement({
  name: "runs/find-cancelled",
  params: { lease: uuid },
  returns: { id: uuid, is_replaced: boolean, cancelled_by: nullable(json) },
  plan: "index",
  sql: `
  select run.id, coalesce(end_by > {now}, false) as is_replaced, (
      select json_build_object('actor', actor, 'reason', reason)
      from {audit}
      where subject = 'run:' || run.id::text and action = 'run.cancel'
      order by at desc
      limit 1
    ) as cancelled_by
  from {runs} as run
  where cancelling and lease = @lease
`,
})
