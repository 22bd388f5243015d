import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { lettersBy, PLACE_PARAMS, PLACE_ROW } from "./places.ts"

/**
 * The dead letters of a tenant below a place that meet a filter.
 *
 * Locks: none.
 * Index: dead_letters_tenant (tenant, died_at) where tenant <> '', backwards.
 */
export const findByTenant = statement({
  name: "dead-letters/find-by-tenant",
  params: { ...PLACE_PARAMS, tenant: text },
  returns: PLACE_ROW,
  plan: "index",
  sql: lettersBy("tenant = @tenant and tenant <> ''"),
})
