import { bigint, list, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Which of these (run, claim) pairs history knows: those whose settle took effect although its answer was lost.
 *
 * Not those that were lost: that row was written by whoever took the run away, under the same pair.
 *
 * Index: attempts_run (run) in every partition.
 */
export const findSettled = statement({
  name: "attempts/find-settled",
  params: { ids: list(uuid), claims: list(bigint) },
  returns: { id: uuid },
  sql: `
  select run as id
  from {attempts}
  where run = any (@ids)
    and outcome <> 'lost'
    and (run, claim) in (select id, claim from unnest(@ids, @claims) as pair (id, claim))
`,
})
