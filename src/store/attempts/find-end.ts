import { instant, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { sinceEver } from "./earliest-end.ts"

/**
 * The final states of runs: null for a live run, no row for an unknown one. A replayed run has the end of its last
 * generation, and none while that generation lives. Only a run that was written twice is returned as both live and
 * ended.
 *
 * Guarantee: one snapshot. A run that is being settled is found either live or in history, never in neither.
 * `since`: partitions that end before it are not read.
 * Locks: none.
 * Index: attempts_by_run (run) in every partition since then; the primary key of runs.
 */
export const findEnd = sinceEver(
  statement({
    name: "attempts/find-end",
    params: { ids: list(uuid), since: instant },
    returns: {
      id: uuid,
      run_state: nullable(text),
      result: nullable(json),
      error_code: nullable(text),
      error_message: nullable(text),
      error_stack: nullable(text),
    },
    plan: "index",
    sql: `
  with live as materialized (
    select id, generation
    from {runs}
    where id = any (@ids)
  ),
  ended as (
    select distinct on (run) run as id, run_state, result, error_code, error_message, error_stack
    from {attempts} as attempt
    where run = any (@ids) and finished_at >= @since and run_state is not null
      and not exists (select from live where live.id = run and live.generation > attempt.generation)
    order by run, attempt.generation desc, finished_at desc
  )
  select id, null::text as run_state, null::json as result,
    null::text as error_code, null::text as error_message, null::text as error_stack
  from live
  union all
  select id, run_state, result, error_code, error_message, error_stack
  from ended
`,
  }),
)
