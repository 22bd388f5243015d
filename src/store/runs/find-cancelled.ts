import { boolean, json, nullable, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The running runs of a lease that were cancelled, with actor and reason, and those that a newer run replaces. A
 * replaced run has time to end by itself before it is cancelled like the others.
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
