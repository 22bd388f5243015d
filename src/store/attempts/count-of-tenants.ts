import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { countUpTo } from "./count-up-to.ts"

/**
 * How many attempts of these tenants are in history between two days, and no more than `most`.
 *
 * It tells whether a list had better read all of them or walk the ids.
 * Locks: none.
 * Index: attempts_by_tenant (tenant, finished_at) where tenant <> '' of those days.
 */
export const countAttemptsOfTenants = statement({
  name: "attempts/count-of-tenants",
  params: { ofTenants: list(text), firstDay: text, dayAfter: text, most: int },
  returns: { count: int },
  plan: "index",
  sql: countUpTo("ofTenants", "tenant = wanted.value and tenant <> ''"),
})
