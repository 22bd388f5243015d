import { bigint, instant, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { sinceEver } from "./earliest-end.ts"

/**
 * Which of these (run, claim) pairs history knows: those whose settle took effect although its answer was lost. `state` is
 * how the run ended by it, which may be another way than was meant: somebody may have cancelled it before. Null where
 * the run went on.
 *
 * Not those that were lost: that row was written by whoever took the run away, under the same pair.
 *
 * `since`: partitions that end before it are not looked at.
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
