import { bigint, instant, int, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Every attempt of one run, the oldest first: by number, because the clock may have been set back in between.
 *
 * Index: attempts_run (run) in every partition.
 */
export const listAttemptsOfRun = statement({
  name: "attempts/list-of-run",
  params: { run: uuid },
  returns: {
    run: uuid,
    claim: bigint,
    attempt: int,
    job: text,
    pool: text,
    lease: uuid,
    enqueued_at: instant,
    due_at: instant,
    started_at: nullable(instant),
    finished_at: instant,
    outcome: text,
    run_state: nullable(text),
    error_code: nullable(text),
    error_message: nullable(text),
    error_stack: nullable(text),
  },
  sql: `
  select run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at,
    outcome, run_state, error_code, error_message, error_stack
  from {attempts}
  where run = @run
  order by attempt, finished_at
`,
})
