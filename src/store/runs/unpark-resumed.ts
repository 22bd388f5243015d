import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { groupsParkedFor, NOT_PAUSED, UNPARK } from "./parking.ts"

/**
 * Unparks up to `limit` runs that were parked for a pause, of jobs and pools that are no longer paused
 * and have no ramp.
 *
 * Guarantee: the present pauses decide, not the act of resuming. No run is left parked when a process dies in between,
 * or when a run was parked while its job was being resumed.
 * Locks: the rows it moves, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_parked (parked_for, job, pool, rank) where stage = 'parked', read group by group, so that runs that are
 * still paused are not read. Also the primary key of run_limits. Hashed, because PostgreSQL would otherwise search the
 * lists once per row.
 */
export const unparkResumed = statement({
  name: "runs/unpark-resumed",
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
  with recursive ${groupsParkedFor("pause")},
  chosen as (
    select run.tuple, run.rank
    from parked
    cross join lateral (
      select ctid as tuple, rank
      from {runs}
      where stage = 'parked' and parked_for = 'pause' and job = parked.job and pool = parked.pool
      order by rank
      limit @limit
      for no key update skip locked
    ) as run
    where ${NOT_PAUSED}
      and not exists (
        select from {ramps} as ramp
        where ramp.kind = 'job' and ramp.name = parked.job or ramp.kind = 'pool' and ramp.name = parked.pool
          or ramp.kind = 'everything'
      )
    limit @limit
  ),
  ${UNPARK}
`,
})
