import { nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { AUDIT_COLUMNS, AUDIT_ORDER, AUDIT_PARAMS, AUDIT_ROW, WITHIN_AUDIT } from "./page.ts"

/**
 * A page of the changes by one actor.
 *
 * Locks: none.
 * Index: audit_actor (actor, at, id), backwards.
 */
export const listAuditByActor = statement({
  name: "audit/list-by-actor",
  params: { ...AUDIT_PARAMS, actor: text, action: nullable(text) },
  returns: AUDIT_ROW,
  plan: "index",
  sql: `
  select ${AUDIT_COLUMNS}
  from {audit}
  where actor = @actor and (@action is null or action = @action)
    and ${WITHIN_AUDIT}
  order by ${AUDIT_ORDER}
  limit @limit
`,
})
