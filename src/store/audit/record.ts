import { json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes down who changed what, and why.
 *
 * Guarantee: run in the transaction of the change, so that there is neither without the other.
 * Locks: none beyond the new row.
 */
export const recordAudit = statement({
  name: "audit/record",
  params: {
    actor: text,
    action: text,
    subject: text,
    reason: text,
    before: nullable(json),
    after: nullable(json),
  },
  returns: {},
  sql: `
  insert into {audit} (at, actor, action, subject, reason, before, after)
  values ({now}, @actor, @action, @subject, @reason, @before, @after)
`,
})
