import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { AUDIT_COLUMNS, AUDIT_ORDER, AUDIT_PARAMS, AUDIT_ROW, WITHIN_AUDIT } from "./page.ts"

/**
 * A page of the changes of one subject.
 *
 * Locks: none.
 * Index: audit_subject (subject, at, id), backwards.
 */
export const listAuditBySubject = statement({
  name: "audit/list-by-subject",
  params: { ...AUDIT_PARAMS, subject: text, actor: nullable(text), action: nullable(text) },
  returns: AUDIT_ROW,
  plan: "index",
  sql: `
  select ${AUDIT_COLUMNS}
  from {audit}
  where subject = @subject and (@actor is null or actor = @actor) and (@action is null or action = @action)
    and ${WITHIN_AUDIT}
  order by ${AUDIT_ORDER}
  limit @limit
`,
})
