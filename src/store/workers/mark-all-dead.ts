import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Marks every lease dead, and returns how many runs are held under them.
 *
 * For rows that an import brought from another database. Their processes do not work on this one, and the reaper takes
 * back what they held like the runs of any other dead lease.
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
