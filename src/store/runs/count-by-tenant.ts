import { list, text } from "../codec.ts"
import { counted, DEAD_WALK, endedOf, LIVE_WALK } from "../filtered/candidates.ts"
import { COUNTING_PARAMS, COUNTING_ROW, counting } from "../filtered/counting.ts"
import { statement } from "../statement.ts"

/**
 * How many runs of these tenants meet a filter, up to a limit in each store.
 *
 * Guarantee: one snapshot. No store is read further than the budget; `is_partial` says that one had more. Locks: none.
 * Index: the primary key of runs, the primary key of dead_letters, and attempts_by_tenant (tenant, finished_at) where
 * tenant <> '' of the days between the bounds.
 */
export const countRunsByTenant = statement({
  name: "runs/count-by-tenant",
  params: { ...COUNTING_PARAMS, ofTenants: list(text) },
  returns: COUNTING_ROW,
  plan: "index",
  sql: counting({
    live: LIVE_WALK,
    dead: DEAD_WALK,
    ended: counted("ended", endedOf("ofTenants", "tenant = wanted.value and tenant <> ''")),
  }),
})
