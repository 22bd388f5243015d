import { instant, int, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The latest generation of each of these runs, live or in history. A run with a later generation than that of a dead
 * letter was replayed.
 *
 * Guarantee: one snapshot. A run that is being settled is found either live or in history.
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: the primary key of runs, attempts_by_run (run) in every partition since then.
 */
export const latestGeneration = statement({
  name: "attempts/latest-generation",
  params: { ids: list(uuid), since: instant },
  returns: { id: uuid, generation: int },
  plan: "index",
  sql: `
  select id, max(generation) as generation
  from (
    select id, generation
    from {runs}
    where id = any (@ids)
    union all
    select run, generation
    from {attempts}
    where run = any (@ids) and finished_at >= @since
  ) as told
  group by id
`,
})
