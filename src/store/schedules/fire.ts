import { bigint, boolean, double, instant, int, json, nullable, rows, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes decisions about schedules: occurrences into the ledger, a run for each new row of the ledger, and the cursors.
 * Returns how many runs went into each lane, with the rank of the first.
 *
 * Guarantee: run in the transaction that has taken the schedules (schedules/take). An occurrence has one run, even if
 * the cursor is wrong: only new rows of the ledger get one, and such a row outlives its run. A run under an overlap
 * key, or of a job with a limit, is parked, and the caller starts an admission. A run with `isAdmitted` is ready: pass
 * it only if this transaction holds the lock of its key and has seen the key unused (limits/unused), and if the run
 * needs no other key. Locks: none beyond the taken rows and the new ones.
 */
export const fireSchedules = statement({
  name: "schedules/fire",
  params: {
    schedules: rows({
      id: uuid,
      cursor: instant,
      nextOccurrence: nullable(instant),
      nextAt: nullable(instant),
      state: text,
      fired: int,
      /** The edition of the zone data that planned the next occurrence. Null for a schedule without a time zone. */
      tzdb: nullable(text),
      /** The local time of the last occurrence that fires. Null keeps the stored one. */
      lastCivil: nullable(text),
      pool: text,
      priority: int,
      history: text,
      buryWhenLost: boolean,
      startWithinMs: nullable(double),
      tags: nullable(json),
      timeoutMs: nullable(double),
      retry: nullable(json),
      /** The key under which runs execute one at a time, and its kind. */
      overlapKey: nullable(text),
      overlapKind: text,
      jobLimit: nullable(text),
    }),
    fires: rows({
      schedule: uuid,
      occurrence: instant,
      dueAt: instant,
      run: uuid,
      missed: nullable(json),
      /** Its overlap key is locked and unused, so the run is ready at once. */
      isAdmitted: boolean,
    }),
    /** Stretches of occurrences that get no run. */
    passed: rows({
      schedule: uuid,
      first: instant,
      last: instant,
      count: bigint,
      outcome: text,
      reason: text,
      intoOccurrence: nullable(instant),
    }),
  },
  returns: { state: text, pool: text, solo: boolean, priority: int, runs: int, rank: bigint },
  plan: "index",
  sql: `
  with moment as materialized (
    -- The clock is read here once. In the list of an insert it would be evaluated for every row.
    select at, (date_part('epoch', at) * 1000000)::bigint as rank
    from (select {now} as at offset 0) as clock
  ),
  given as materialized (
    select *
    from unnest(@schedules) as given (@schedules.columns)
  ),
  advanced as (
    update {schedules} as schedule
    set cursor = given.cursor, next_occurrence = given.next_occurrence, next_at = given.next_at,
      state = given.state, fired = schedule.fired + given.fired, tzdb = given.tzdb,
      last_civil = coalesce(given.last_civil, schedule.last_civil)
    from given
    where schedule.id = given.id and schedule.id = any (@schedules.id)
    returning schedule.id, schedule.tenant, schedule.job, schedule.input
  ),
  fire as materialized (
    select *
    from unnest(@fires) with ordinality as fire (@fires.columns, place)
  ),
  open as materialized (
    select key, waves[cardinality(waves)] as wave
    from {limit_waves}
    where key = any (@schedules.overlapKey)
  ),
  ledger as (
    insert into {fires} (schedule, occurrence, outcome, due_at, decided_at, run, last)
    select schedule, occurrence, 'fired', due_at, (select at from moment), run, occurrence
    from fire
    on conflict (schedule, occurrence, generation) do nothing
    returning run
  ),
  passed as (
    insert into {fires} (schedule, occurrence, generation, outcome, reason, decided_at, last, count, into_occurrence)
    select schedule, first,
      -- A backfill may already have run the first occurrence of the stretch.
      coalesce(
        (select max(generation) from {fires} as known where known.schedule = passed.schedule and occurrence = first), 0
      ) + 1,
      outcome, reason, (select at from moment), last, count, into_occurrence
    from unnest(@passed) as passed (@passed.columns)
    on conflict (schedule, occurrence, generation) do nothing
  ),
  made as (
    insert into {runs} as run (
      id, job, pool, priority, rank, stage, parked_for, solo, limited, enqueued_at, due_at, start_by, input,
      tenant, tags, timeout_ms, retry, history, bury_when_lost, schedule, occurrence, missed
    )
    select fire.run, job, pool, priority, (select rank from moment) + place - 1,
      case when is_parked then 'parked' else 'queued' end, case when is_parked then 'limit' end,
      -- Only a place under the limit of a job must not be held by a run that waits for a slot.
      job_limit is not null, is_limited, (select at from moment), due_at,
      case when start_within_ms is not null then
        least(due_at + start_within_ms * interval '1 millisecond', timestamptz '9999-12-31 23:59:59Z')
      end, input, tenant,
      case when tags is not null then array(select json_array_elements_text(tags)) end,
      timeout_ms, retry, history, bury_when_lost, fire.schedule::text, occurrence, missed
    from ledger
    join fire on fire.run = ledger.run
    join given on given.id = fire.schedule
    join advanced on advanced.id = fire.schedule
    cross join lateral (select overlap_key is not null or job_limit is not null as is_limited) as under
    cross join lateral (select is_limited and not is_admitted as is_parked) as verdict
    returning id, {schema}.state(run) as state, pool, solo, priority, rank
  ),
  in_line as (
    insert into {run_limits} (run, key, kind, limit_name, admitted, wave, priority, rank)
    select made.id, line.key, line.kind, line.limit_name, is_admitted,
      case when is_admitted then coalesce((select wave from open where open.key = line.key), 0) end,
      made.priority, line.rank
    from made
    join fire on fire.run = made.id
    join given on given.id = fire.schedule
    cross join lateral (
      values
        -- Ranked by occurrence, also for a run that comes back after a failure.
        (overlap_key, overlap_kind, null, (extract(epoch from occurrence) * 1000000)::bigint),
        (job_limit, 'job', job_limit, made.rank)
    ) as line (key, kind, limit_name, rank)
    where line.key is not null
  )
  select state, pool, solo, priority, count(*)::int as runs, min(rank) as rank
  from made
  group by state, pool, solo, priority
`,
})
