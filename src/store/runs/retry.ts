import { bigint, boolean, double, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives runs back for another attempt: this one goes into history, the run waits for its next. Returns
 * those that it moved; a missing one was not this worker's any more.
 *
 * `delaysMs` says how long it waits; null: it is ready at once and stays due as it was.
 * `charged` says whether the attempt counts: a failure does, a release at a stop does not.
 * Fence, locks and index: as in runs/finish.
 */
export const retryRuns = statement({
  name: "runs/retry",
  params: {
    lease: uuid,
    ids: list(uuid),
    claims: list(bigint),
    charged: list(boolean),
    delaysMs: list(nullable(double)),
    outcomes: list(text),
    startedAgoMs: list(nullable(double)),
    errorCodes: list(nullable(text)),
    errorMessages: list(nullable(text)),
    errorStacks: list(nullable(text)),
  },
  returns: { id: uuid },
  plan: "index",
  sql: `
  with verdict as (
    select *
    from unnest(@ids, @claims, @charged, @delaysMs, @outcomes, @startedAgoMs, @errorCodes, @errorMessages, @errorStacks)
      as v (id, claim, charged, delay_ms, outcome, started_ago_ms, error_code, error_message, error_stack)
  ),
  held as materialized (
    select ctid, id, claim, attempt, job, pool, enqueued_at, due_at
    from {runs}
    where id = any (@ids) and lease = @lease and state = 'running'
    order by id
    for no key update
  ),
  mine as (
    select held.*, charged, delay_ms, outcome, started_ago_ms, error_code, error_message, error_stack
    from held
    join verdict using (id, claim)
  ),
  moved as (
    update {runs} as run
    set state = case when delay_ms is null then 'ready' else 'waiting' end,
      rank = (extract(epoch from {now}) * 1000000)::bigint,
      due_at = coalesce({now} + delay_ms * interval '1 millisecond', run.due_at),
      attempt = run.attempt + case when charged then 1 else 0 end,
      lease = null,
      claim = null
    from mine
    where run.ctid = mine.ctid
    returning run.id
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
      outcome, error_code, error_message, error_stack
    )
    select id, claim, attempt + 1, job, pool, @lease, enqueued_at, due_at,
      {now} - started_ago_ms * interval '1 millisecond', {now},
      outcome, error_code, error_message, error_stack
    from mine
  )
  select id from moved
`,
})
