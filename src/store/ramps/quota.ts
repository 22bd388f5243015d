/**
 * What the statements that release runs of a ramp share: `ramp`, which is locked, and how many runs it may release now.
 *
 * At any moment as many have been released as the part of its time that has passed. A ramp whose time is over is
 * deleted: what is left returns like the runs of any pause.
 */
export const QUOTA = `
  ramp as materialized (
    select kind, name, ends_at <= at as is_over,
      greatest(0, least(@limit, ceil(
        parked * date_part('epoch', at - from_at) / greatest(date_part('epoch', ends_at - from_at), 0.001)
      ) - released))::int as quota
    from {ramps}
    cross join (select {now} as at offset 0) as moment
    where kind = @kind and name = @name
    for update of ramps skip locked
  )`

/** Counts what was chosen, or ends the ramp. */
export const RELEASED = `
  counted as (
    update {ramps} as held
    set released = released + (select count(*) from chosen)
    from ramp
    where held.kind = ramp.kind and held.name = ramp.name and not is_over
  ),
  ended as (
    delete from {ramps} as held
    using ramp
    where held.kind = ramp.kind and held.name = ramp.name and is_over
  )`

/** A bound for the runs to choose. */
export const MAY_RELEASE = "(select coalesce(max(quota) filter (where not is_over), 0) from ramp)"
