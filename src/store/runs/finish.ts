import { bigint, double, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends runs: out of `runs`, their last attempt into history, the dead ones into the dead letters. Returns
 * those that it ended; a missing one was not this worker's any more.
 *
 * `startedAgoMs` is null for a run whose handler did not run: then no attempt is counted.
 * Fence: (lease, claim) of each run. The rows are locked first and matched with their claims afterwards: a
 * join of pairs with the table would be a hash join over all of it.
 * Guarantee: a run leaves `runs` in the same statement in which history receives it.
 * Locks: the rows, in the order of their ids.
 * Index: the primary key of runs.
 */
export const finishRuns = statement({
  name: "runs/finish",
  params: {
    lease: uuid,
    ids: list(uuid),
    claims: list(bigint),
    states: list(text),
    outcomes: list(text),
    startedAgoMs: list(nullable(double)),
    results: list(nullable(json)),
    errorCodes: list(nullable(text)),
    errorMessages: list(nullable(text)),
    errorStacks: list(nullable(text)),
  },
  returns: { id: uuid },
  plan: "index",
  sql: `
  with verdict as (
    select *
    from unnest(@ids, @claims, @states, @outcomes, @startedAgoMs, @results, @errorCodes, @errorMessages, @errorStacks)
      as v (id, claim, state, outcome, started_ago_ms, result, error_code, error_message, error_stack)
  ),
  held as materialized (
    select ctid, id, claim
    from {runs}
    where id = any (@ids) and lease = @lease and state = 'running'
    order by id
    for update
  ),
  gone as (
    delete from {runs}
    where ctid = any (array(select held.ctid from held join verdict using (id, claim)))
    returning id, claim, job, pool, priority, attempt, enqueued_at, due_at, input
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
      outcome, run_state, input, result, error_code, error_message, error_stack
    )
    select gone.id, gone.claim, gone.attempt + 1, job, pool, @lease, enqueued_at, due_at,
      {now} - started_ago_ms * interval '1 millisecond', {now},
      outcome, state, input, result, error_code, error_message, error_stack
    from gone
    join verdict using (id, claim)
  ),
  buried as (
    insert into {dead_letters} (
      run, job, pool, priority, attempts, enqueued_at, died_at, input, error_code, error_message, error_stack
    )
    select gone.id, job, pool, priority, gone.attempt + case when started_ago_ms is null then 0 else 1 end,
      enqueued_at, {now}, input,
      error_code, error_message, error_stack
    from gone
    join verdict using (id, claim)
    where state = 'dead'
  )
  select id from gone
`,
})
