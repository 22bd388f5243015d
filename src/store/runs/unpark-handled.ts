import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { groupsParkedFor, isHandled, UNPARK } from "./parking.ts"

/**
 * Unparks up to `limit` runs that were parked because no worker could execute them, now that one can.
 *
 * Locks: the rows it moves, and their places under limits. Rows that another transaction holds are skipped.
 * Index: runs_parked (parked_for, job, pool, rank) where stage = 'parked', read group by group, so that runs that still
 * have no worker are not read. Also the primary key of run_limits. Hashed, because PostgreSQL would otherwise search
 * the lists once per row.
 */
export const unparkHandled = statement({
  name: "runs/unpark-handled",
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
  with recursive ${groupsParkedFor("handler")},
  chosen as (
    select run.tuple, run.rank
    from parked
    cross join lateral (
      select ctid as tuple, rank
      from {runs}
      where stage = 'parked' and parked_for = 'handler' and job = parked.job and pool = parked.pool
      order by rank
      limit @limit
      for no key update skip locked
    ) as run
    where ${isHandled("parked")}
    limit @limit
  ),
  ${UNPARK}
`,
})
