import { json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records who changed what, and why.
 *
 * Guarantee: run it in the transaction of the change, so that neither is committed without the other.
 * Locks: only the new row.
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
