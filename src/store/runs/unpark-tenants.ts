import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { UNPARK } from "./parking.ts"

/**
 * Unparks up to `limit` runs that were parked for the pause of a tenant that is no longer paused and has no ramp.
 *
 * Guarantee: the present pauses decide, not the act of resuming; see runs/unpark-resumed.
 * Locks: the rows it moves, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_parked_tenant (tenant, rank) where parked_for = 'tenant', read tenant by tenant, so that runs that are
 * still paused are not read. Also the primary key of run_limits. Hashed, because PostgreSQL would otherwise search the
 * lists once per row.
 */
export const unparkTenants = statement({
  name: "runs/unpark-tenants",
  params: { limit: int },
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
  with recursive parked (tenant) as (
    (
      select tenant
      from {runs}
      where stage = 'parked' and parked_for = 'tenant'
      order by tenant
      limit 1
    )
    union all
    select next.tenant
    from parked
    cross join lateral (
      select tenant
      from {runs}
      where stage = 'parked' and parked_for = 'tenant' and tenant > parked.tenant
      order by tenant
      limit 1
    ) as next
  ),
  chosen as (
    select run.tuple, run.rank
    from parked
    cross join lateral (
      select ctid as tuple, rank
      from {runs}
      where stage = 'parked' and parked_for = 'tenant' and tenant = parked.tenant
      order by rank
      limit @limit
      for no key update skip locked
    ) as run
    where not exists (select from {pauses} as pause where pause.kind = 'tenant' and pause.name = parked.tenant)
      and not exists (select from {ramps} as ramp where ramp.kind = 'tenant' and ramp.name = parked.tenant)
    limit @limit
  ),
  ${UNPARK}
`,
})
