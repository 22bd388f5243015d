import { list, text } from "../codec.ts"
import { DEAD_WALK, endedOf, LIVE_WALK, sorted } from "../filtered/candidates.ts"
import { LISTING_PARAMS, LISTING_ROW, listing } from "../filtered/listing.ts"
import { statement } from "../statement.ts"

/**
 * The ids of filtered runs, newest first, where the ended runs of these tenants are few: all of them are read and
 * sorted. Live runs and dead letters are walked.
 *
 * One look-up for each value, apart (`offset 0`): a list or a join is planned as a scan of another index while the
 * table is empty. Guarantee: one snapshot. `attempts/count-of-tenants` says beforehand how many are read. Locks: none.
 * Index: the primary keys of runs and dead_letters, backwards, and attempts_by_tenant (tenant, finished_at) where
 * tenant <> '' of the days between the bounds.
 */
export const listRunsByTenant = statement({
  name: "runs/list-by-tenant",
  params: { ...LISTING_PARAMS, ofTenants: list(text) },
  returns: LISTING_ROW,
  plan: "index",
  sql: listing({
    found: `,
  ended as materialized (
    select ended.*
    ${endedOf("ofTenants", "tenant = wanted.value and tenant <> ''")}
  )`,
    live: LIVE_WALK,
    dead: DEAD_WALK,
    ended: sorted("ended"),
  }),
})
