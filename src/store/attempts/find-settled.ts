import { bigint, instant, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { sinceEver } from "./earliest-end.ts"

/**
 * Which of these (run, claim) pairs were settled, though the answer of the settle was lost. `state` is the final state
 * of the run, or null if the run continued. It may differ from the intended one, if the run was cancelled before.
 *
 * Lost attempts do not count: the reaper wrote that row, under the same pair.
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: attempts_by_run (run) in every partition since then.
 */
export const findSettled = sinceEver(
  statement({
    name: "attempts/find-settled",
    params: { ids: list(uuid), claims: list(bigint), since: instant },
    returns: { id: uuid, state: nullable(text) },
    plan: "index",
    sql: `
  select run as id, run_state as state
  from {attempts}
  where run = any (@ids) and finished_at >= @since
    and outcome <> 'lost'
    and (run, claim) in (select id, claim from unnest(@ids, @claims) as pair (id, claim))
`,
  }),
)
