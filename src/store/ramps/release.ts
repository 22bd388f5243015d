import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { groupsParkedFor, NOT_PAUSED, UNPARK } from "../runs/parking.ts"
import { statement } from "../statement.ts"
import { MAY_RELEASE, QUOTA, RELEASED } from "./quota.ts"

/**
 * Unparks as many runs of a resumed job, of a resumed pool, or of everything as its ramp may have released by now, at
 * most `limit`. Deletes the ramp when its time is over.
 *
 * Guarantee: of many processes, one moves a ramp at a time. The database's clock paces it. Runs of another pause stay.
 * Locks: the ramp, the rows it moves, and their places under limits. Rows that another transaction holds are skipped.
 * Index: the primary keys of ramps and run_limits; runs_parked, read group by group.
 */
export const releaseRamp = statement({
  name: "ramps/release",
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
  with recursive ${groupsParkedFor("pause")},
  ${QUOTA},
  chosen as (
    select run.tuple, run.rank
    from parked
    cross join lateral (
      select ctid as tuple, rank
      from {runs}
      where stage = 'parked' and parked_for = 'pause' and job = parked.job and pool = parked.pool
      order by rank
      limit ${MAY_RELEASE}
      for no key update skip locked
    ) as run
    where (@kind = 'everything' or @kind = 'job' and parked.job = @name or @kind = 'pool' and parked.pool = @name)
      and ${NOT_PAUSED}
    limit ${MAY_RELEASE}
  ),
  ${RELEASED},
  ${UNPARK}
`,
})
