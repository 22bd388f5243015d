import { boolean, instant, int, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The ledger's rows about the occurrences of a schedule from `first` to `last`, both included, in order. With
 * `isJudged` also the states of their runs: a dead letter is `dead` for as long as it exists, other ends are known for
 * as long as history is kept.
 *
 * Locks: none.
 * Index: the primary keys of fires, runs and dead_letters, and attempts_by_run.
 */
export const readFires = statement({
  name: "fires/read-span",
  params: { schedule: uuid, first: instant, last: instant, isJudged: boolean },
  returns: { occurrence: instant, generation: int, outcome: text, run_state: nullable(text) },
  plan: "index",
  sql: `
  select occurrence, generation, outcome,
    case when @isJudged and run is not null then coalesce(
      (select {schema}.state(live) from {runs} as live where id = fire.run),
      (select 'dead' from {dead_letters} as dead where dead.run = fire.run),
      (
        select run_state
        from {attempts} as attempt
        where attempt.run = fire.run and run_state is not null
          and finished_at >= fire.decided_at - interval '2 days'
        order by finished_at desc
        limit 1
      )
    ) end as run_state
  from {fires} as fire
  where schedule = @schedule and occurrence >= @first and occurrence <= @last and generation > 0
  order by occurrence, generation
`,
})
