import { text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a pause that was resumed with a ramp, and begins the ramp: from now on the runs that are parked for it return
 * evenly over its time. Without such runs there is nothing to return, and no ramp. No row means that another process
 * was first, or that the pause was changed.
 *
 * Guarantee: of many processes, one begins it and is told of it.
 * Locks: the row of the pause, and the new row.
 * Cost: counts the parked runs, once for each ramp.
 * Index: the primary key of pauses; runs_parked and runs_parked_tenant.
 */
export const beginRamp = statement({
  name: "ramps/begin",
  params: { kind: text, name: text },
  returns: { actor: text, reason: text, parked: whole },
  plan: "index",
  sql: `
  with begun as (
    delete from {pauses}
    where kind = @kind and name = @name and ramp_ms is not null
    returning kind, name, paused_at, actor, reason, ramp_ms
  ),
  counted as materialized (
    select count(*) as parked
    from (
      select from {runs}
      where @kind <> 'tenant' and stage = 'parked' and parked_for = 'pause'
        and (@kind = 'everything' or @kind = 'job' and job = @name or @kind = 'pool' and pool = @name)
      union all
      select from {runs}
      where @kind = 'tenant' and stage = 'parked' and parked_for = 'tenant' and tenant = @name
    ) as run
  ),
  written as (
    insert into {ramps} (kind, name, paused_at, from_at, ends_at, parked, actor, reason)
    select kind, name, paused_at, at, at + ramp_ms * interval '1 millisecond', parked, actor, reason
    from begun
    cross join counted
    cross join (select {now} as at offset 0) as moment
    where parked > 0
    on conflict (kind, name) do nothing
  )
  select actor, reason, parked
  from begun
  cross join counted
`,
})
