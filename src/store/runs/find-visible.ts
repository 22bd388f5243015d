import { bigint, boolean, int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Which of the given runs are visible by now, and in which lane. Asked about runs written in a transaction of the
 * user's, until it commits.
 *
 * Index: the primary key of runs.
 */
export const findVisible = statement({
  name: "runs/find-visible",
  params: { ids: list(uuid) },
  returns: { id: uuid, state: text, pool: text, solo: boolean, priority: int, rank: bigint },
  plan: "index",
  sql: `
  select id, {schema}.state(run) as state, pool, solo, priority, rank
  from {runs} as run
  where id = any (@ids)
`,
})
