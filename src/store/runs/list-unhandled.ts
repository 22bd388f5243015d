import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { groupsParkedFor } from "./parking.ts"

/**
 * Counts the runs that are parked because no worker can execute them, by job and pool, up to `most` for each. Jobs in
 * `except` are left out.
 *
 * Index: runs_parked (parked_for, job, pool, rank) where stage = 'parked'.
 */
export const listUnhandled = statement({
  name: "runs/list-unhandled",
  params: { except: list(text), most: int },
  returns: { job: text, pool: text, runs: int },
  plan: "index",
  sql: `
  with recursive ${groupsParkedFor("handler")}
  select parked.job, parked.pool, counted.runs
  from parked
  cross join lateral (
    select count(*)::int as runs
    from (
      select
      from {runs}
      where stage = 'parked' and parked_for = 'handler' and job = parked.job and pool = parked.pool
      limit @most
    ) as run
  ) as counted
  where parked.job <> all (@except)
`,
})
