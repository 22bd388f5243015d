import { statement } from "../statement.ts"
import { AUDIT_COLUMNS, AUDIT_ORDER, AUDIT_PARAMS, AUDIT_ROW, WITHIN_AUDIT } from "./page.ts"

/**
 * A page of all changes.
 *
 * Locks: none.
 * Index: audit_at (at, id), backwards.
 */
export const listAudit = statement({
  name: "audit/list",
  params: AUDIT_PARAMS,
  returns: AUDIT_ROW,
  plan: "index",
  sql: `
  select ${AUDIT_COLUMNS}
  from {audit}
  where ${WITHIN_AUDIT}
  order by ${AUDIT_ORDER}
  limit @limit
`,
})
