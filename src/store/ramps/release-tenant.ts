import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { UNPARK } from "../runs/parking.ts"
import { statement } from "../statement.ts"
import { MAY_RELEASE, QUOTA, RELEASED } from "./quota.ts"

/**
 * Unparks as many runs of a resumed tenant as its ramp may have released by now, at most `limit`. See `ramps/release`.
 *
 * Locks: the ramp, the rows it moves, and their places under limits. Rows that another transaction holds are skipped.
 * Index: the primary keys of ramps and run_limits; runs_parked_tenant.
 */
export const releaseTenantRamp = statement({
  name: "ramps/release-tenant",
  params: { kind: text, name: text, limit: int },
  returns: {
    state: text,
    pool: text,
    solo: boolean,
    priority: int,
    rank: bigint,
    runs: int,
    found: int,
    limit_keys: nullable(json),
  },
  plan: "hashed",
  sql: `
  with ${QUOTA},
  chosen as (
    select ctid as tuple, rank
    from {runs}
    where stage = 'parked' and parked_for = 'tenant' and tenant = @name
    order by rank
    limit ${MAY_RELEASE}
    for no key update skip locked
  ),
  ${RELEASED},
  ${UNPARK}
`,
})
