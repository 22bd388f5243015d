import { json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What has become of runs: the final state of those that have one, null for those still alive, and nothing
 * for those that are unknown.
 *
 * Guarantee: one snapshot. A run that is just being settled is found on one side or the other, never on none.
 * Index: attempts_run (run) in every partition; the primary key of runs.
 */
export const findEnd = statement({
  name: "attempts/find-end",
  params: { ids: list(uuid) },
  returns: {
    id: uuid,
    run_state: nullable(text),
    result: nullable(json),
    error_code: nullable(text),
    error_message: nullable(text),
    error_stack: nullable(text),
  },
  sql: `
  select id, null::text as run_state, null::json as result,
    null::text as error_code, null::text as error_message, null::text as error_stack
  from {runs}
  where id = any (@ids)
  union all
  select run as id, run_state, result, error_code, error_message, error_stack
  from {attempts}
  where run = any (@ids) and run_state is not null
`,
})
