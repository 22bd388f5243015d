import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { AUDIT_COLUMNS, AUDIT_ORDER, AUDIT_PARAMS, AUDIT_ROW, WITHIN_AUDIT } from "./page.ts"

/**
 * A page of the changes of one kind.
 *
 * Locks: none.
 * Index: audit_action (action, at, id), backwards.
 */
export const listAuditByAction = statement({
  name: "audit/list-by-action",
  params: { ...AUDIT_PARAMS, action: text },
  returns: AUDIT_ROW,
  plan: "index",
  sql: `
  select ${AUDIT_COLUMNS}
  from {audit}
  where action = @action
    and ${WITHIN_AUDIT}
  order by ${AUDIT_ORDER}
  limit @limit
`,
})
