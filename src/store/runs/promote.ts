import { int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes up to `limit` waiting runs ready whose time has come, the longest due first, and says how many of
 * which pool.
 *
 * Guarantee: nothing early, judged by the database's clock. The rank is written here and not before.
 * Locks: the rows it moves; rows that others hold are skipped.
 * Index: runs_waiting (due_at) where state = 'waiting'.
 */
export const promoteRuns = statement({
  name: "runs/promote",
  params: { limit: int },
  returns: { pool: text, runs: int },
  plan: "index",
  sql: `
  with promoted as (
    update {runs}
    set state = 'ready', rank = (extract(epoch from {now}) * 1000000)::bigint
    where ctid = any (array(
      select ctid
      from {runs}
      where state = 'waiting' and due_at <= {now}
      order by due_at
      limit @limit
      for no key update skip locked
    ))
    returning pool
  )
  select pool, count(*)::int as runs
  from promoted
  group by pool
`,
})
