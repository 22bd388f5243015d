import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { BELOW, NEWEST_FIRST, PLACE_COLUMNS, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The newest dead letters of a tenant below a place.
 *
 * Locks: none.
 * Index: dead_letters_tenant (tenant, died_at) where tenant <> '', backwards.
 */
export const findByTenant = statement({
  name: "dead-letters/find-by-tenant",
  params: { ...PLACE_PARAMS, tenant: text },
  returns: PLACE_ROW,
  plan: "index",
  sql: `
  select ${PLACE_COLUMNS}
  from {dead_letters}
  where tenant = @tenant and tenant <> ''
    and ${BELOW}
  order by ${NEWEST_FIRST}
  limit @limit
`,
})
