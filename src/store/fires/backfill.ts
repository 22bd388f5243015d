import { boolean, double, instant, int, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes runs of past occurrences of a schedule, as the generations given: each goes into the ledger, and a run is made for
 * those that it did not know. Says how many that were.
 *
 * Guarantee: of two that make the same at once, one gets the run. Neither the cursor nor the count of the schedule is
 * touched. The runs are due now, whatever their occurrences were, and parked in line under `overlapKey`; `limitName` is
 * the limit that holds there. `isAside`: they do not count as live when an occurrence comes due.
 * Give the occurrences in their order: two that write the same rows in different orders would wait for each other.
 * Locks: none beyond the new rows; waits for the same rows that another is writing.
 * Index: the primary keys of fires and schedules.
 */
export const backfillFires = statement({
  name: "fires/backfill",
  params: {
    schedule: uuid,
    occurrences: list(instant),
    generations: list(int),
    runs: list(uuid),
    isNewestFirst: boolean,
    isAside: boolean,
    pool: text,
    priority: int,
    history: text,
    buryWhenLost: boolean,
    tags: nullable(json),
    timeoutMs: nullable(double),
    retry: nullable(json),
    overlapKey: text,
    limitName: text,
    jobLimit: nullable(text),
  },
  returns: { runs: int },
  plan: "index",
  sql: `
  with fire as materialized (
    select occurrence, generation, run, case when @isNewestFirst then -place else place end as place
    from unnest(@occurrences, @generations, @runs) with ordinality as fire (occurrence, generation, run, place)
    where exists (select from {schedules} where id = @schedule)
  ),
  ledger as (
    insert into {fires} (schedule, occurrence, generation, outcome, due_at, decided_at, run, last)
    select @schedule, occurrence, generation, 'fired', occurrence, {now}, run, occurrence
    from fire
    on conflict (schedule, occurrence, generation) do nothing
    returning run
  ),
  made as (
    insert into {runs} (
      id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, input,
      tenant, tags, timeout_ms, retry, history, bury_when_lost, schedule, occurrence, backfill
    )
    select fire.run, job, @pool, @priority, (date_part('epoch', {now}) * 1000000)::bigint + place,
      'parked', 'limit', true, true, {now}, {now}, input, tenant,
      case when @tags is not null then array(select json_array_elements_text(@tags)) end,
      @timeoutMs, @retry, @history, @buryWhenLost, @schedule::text, occurrence, @isAside
    from ledger
    join fire on fire.run = ledger.run
    join {schedules} as schedule on schedule.id = @schedule
    returning id, priority, rank, occurrence
  ),
  in_line as (
    insert into {run_limits} (run, key, limit_name, admitted, priority, rank)
    select made.id, line.key, line.limit_name, false, made.priority, line.rank
    from made
    cross join lateral (
      values
        -- In the order of the occurrences, from whichever end, also for one that comes back after a failure.
        (@overlapKey, @limitName,
          case when @isNewestFirst then -1 else 1 end * (extract(epoch from occurrence) * 1000000)::bigint),
        (@jobLimit, @jobLimit, made.rank)
    ) as line (key, limit_name, rank)
    where line.key is not null
  )
  select count(*)::int as runs
  from made
`,
})
