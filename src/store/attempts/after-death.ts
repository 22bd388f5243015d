import { boolean, instant, int, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What became of dead runs: their latest generation, live, dead or in history, and whether they are still kept as dead
 * letters or live. A run with a later generation than that of its death was replayed. A run that is not kept was
 * discarded.
 *
 * Guarantee: one snapshot. A run that is being settled or replayed is found in one of the tables.
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: the primary keys of runs and dead_letters, attempts_by_run (run) in every partition since then.
 */
export const afterDeath = statement({
  name: "attempts/after-death",
  params: { ids: list(uuid), since: instant },
  returns: { id: uuid, generation: int, is_kept: boolean },
  plan: "index",
  sql: `
  select id, max(generation) as generation, bool_or(is_kept) as is_kept
  from (
    select id, generation, true as is_kept
    from {runs}
    where id = any (@ids)
    union all
    select run, generation, true
    from {dead_letters}
    where run = any (@ids)
    union all
    select run, generation, false
    from {attempts}
    where run = any (@ids) and finished_at >= @since
  ) as told
  group by id
`,
})
