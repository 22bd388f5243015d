import { bigint, boolean, int, json, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { groupsParkedFor, isHandled, UNPARK } from "./parking.ts"

/**
 * Gives back up to `limit` runs that were parked because no worker could execute them, now that one can.
 *
 * Locks: the rows it moves, and their places under limits; rows that others hold are skipped.
 * Index: runs_parked (parked_for, job, pool, rank) where stage = 'parked', from group to group: runs that still
 * have no worker are not read; the primary key of run_limits. Hashed, because the lists would otherwise be gone
 * through once per row.
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
    select run.place, run.rank
    from parked
    cross join lateral (
      select ctid as place, rank
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
