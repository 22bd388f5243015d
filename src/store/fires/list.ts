import { bigint, instant, int, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The occurrences of a schedule below a position in the ledger, newest first, each with the state of its run: live, or
 * from history.
 *
 * The position is that of a row, (occurrence, generation), because two generations of one occurrence may stand on two
 * pages. The bound of the occurrence is a condition of its own, by which PostgreSQL prunes partitions.
 * A run does not end before it was made, unless the clock was set back, so older days of history are not read.
 * Index: the primary keys of fires and runs, and attempts_by_run.
 */
export const listFires = statement({
  name: "fires/list",
  params: { schedule: uuid, at: instant, generation: int, limit: int },
  returns: {
    occurrence: instant,
    generation: int,
    outcome: text,
    reason: nullable(text),
    due_at: nullable(instant),
    decided_at: instant,
    run: nullable(uuid),
    last: instant,
    count: bigint,
    into_occurrence: nullable(instant),
    run_state: nullable(text),
    attempts: int,
  },
  plan: "index",
  sql: `
  select fire.occurrence, fire.generation, fire.outcome, fire.reason, fire.due_at, fire.decided_at, fire.run,
    fire.last, fire.count, fire.into_occurrence, coalesce(live.state, ended.run_state) as run_state,
    coalesce(live.attempt, ended.attempt, 0) as attempts
  from {fires} as fire
  left join lateral (
    select {schema}.state(entry) as state, attempt
    from {runs} as entry
    where id = fire.run
  ) as live on true
  left join lateral (
    select run_state, attempt
    from {attempts}
    where run = fire.run and run_state is not null and finished_at >= fire.decided_at - interval '2 days'
    order by finished_at desc
    limit 1
  ) as ended on true
  where fire.schedule = @schedule and fire.occurrence <= @at
    and (fire.occurrence, fire.generation) < (@at, @generation)
  order by fire.occurrence desc, fire.generation desc
  limit @limit
`,
})
