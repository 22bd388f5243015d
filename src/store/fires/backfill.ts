import { boolean, double, instant, int, json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Makes runs of past occurrences of a schedule, with the given generations. Each occurrence goes into the ledger, and
 * gets a run if the ledger did not know it. Returns the number of runs.
 *
 * Guarantee: of two calls that make the same run at once, one gets it. The cursor and the run count of the schedule
 * stay as they are. The runs are due now, whatever their occurrences, and are parked in the line of `overlapKey`, whose
 * limit is `limitName`. With `isAside` they do not count as live when an occurrence comes due.
 * Order: pass the occurrences in ascending order. Two calls that write the same rows in different orders would
 * deadlock.
 * Locks: only the new rows. It waits for a transaction that is writing the same rows.
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
    overlapKind: text,
    /** Null: one at a time. */
    limitName: nullable(text),
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
    insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
    select made.id, line.key, line.kind, line.limit_name, false, made.priority, line.rank
    from made
    cross join lateral (
      values
        -- In the order of the occurrences, from either end. A run that returns after a failure keeps that order, too.
        (@overlapKey, @overlapKind, @limitName,
          case when @isNewestFirst then -1 else 1 end * (extract(epoch from occurrence) * 1000000)::bigint),
        (@jobLimit, 'job', @jobLimit, made.rank)
    ) as line (key, kind, limit_name, rank)
    where line.key is not null
  )
  select count(*)::int as runs
  from made
`,
})
