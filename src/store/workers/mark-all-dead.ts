import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks every lease dead, and returns how many runs are held under them.
 *
 * For rows that came from another database: the processes that they tell of do not work here, and what they held when
 * they were copied is taken back by the reaper like the runs of any other dead lease.
 * Locks: every worker's row.
 */
export const markAllDead = statement({
  name: "workers/mark-all-dead",
  params: {},
  returns: { held: int },
  sql: `
  with marked as (
    update {workers}
    set dead = true
    where not dead
  )
  select count(*)::int as held
  from {runs}
  where id = any (array(select unnest(runs) from {claims})) and lease is not null
`,
})
