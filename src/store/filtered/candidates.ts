/**
 * The three stores in which a run can be, each as rows with the same columns, for `meets.ts` to check.
 *
 * Each is read in the order of the ids, newest first, from below a position, and no further than a budget of rows.
 */
import { bigint, boolean, int, text, uuid } from "../codec.ts"
import { MEETS_PARAMS } from "./meets.ts"

export const CANDIDATE_PARAMS = {
  ...MEETS_PARAMS,
  asksLive: boolean,
  asksDead: boolean,
  asksEnded: boolean,
  /** Bounds of the days of history that are read: midnights in UTC, or infinite. */
  firstDay: text,
  dayAfter: text,
  /** Only runs whose id is less. */
  below: uuid,
  /** How many rows of each store are looked at. */
  budget: bigint,
  /** How many rows of each store are returned. */
  limit: int,
} as const

/** A live run. Only a running one has a worker. */
export const LIVE_COLUMNS = `run.id, {schema}.state(run) as state, run.job, run.pool, run.tenant, run.schedule,
  run.tags,
      case when run.lease is not null then (
        select hostname || ':' || pid from {workers} as worker where worker.lease = run.lease
      ) end as worker,
      run.last_error ->> 'code' as error_code, run.last_error ->> 'fingerprint' as fingerprint, run.key, run.priority,
      run.attempt + case when run.lease is null then 0 else 1 end as attempt, run.enqueued_at, run.due_at,
      null::timestamptz as started_at, null::timestamptz as finished_at, run.input`

export const DEAD_COLUMNS = `run as id, 'dead' as state, job, pool, tenant, schedule, tags, worker, error_code,
  fingerprint, key,
      priority, attempts as attempt, enqueued_at, coalesce(due_at, enqueued_at) as due_at, started_at,
      died_at as finished_at, input`

/**
 * The last attempt of a run that has ended. An earlier attempt has no state, and so has the end of a dead run: it is a
 * dead letter, or it was replayed. A dead run of which neither is left was discarded.
 */
export const ENDED_STATE = `case
        when run_state <> 'dead' then run_state
        when run_state = 'dead' and 'discarded' = any (@states)
          and not exists (select from {dead_letters} as letter where letter.run = attempt.run)
          and not exists (select from {runs} as live where live.id = attempt.run)
          and not exists (
            select
            from {attempts} as later
            where later.run = attempt.run and later.finished_at >= attempt.finished_at
              and later.generation > attempt.generation
          )
        then 'discarded'
      end`

/** An attempt counts if it was charged or if its handler ran. */
export const ENDED_ATTEMPT = "attempt - case when charged or started_at is not null then 0 else 1 end"

export const ENDED_COLUMNS = `run as id, ${ENDED_STATE} as state, job, pool, tenant, schedule, tags, worker, error_code,
      fingerprint, key, priority, ${ENDED_ATTEMPT} as attempt, enqueued_at, due_at, started_at, finished_at, input`

/** The primary key of runs, backwards. */
export const LIVE_WALK = `select ${LIVE_COLUMNS}, row_number() over (order by run.id desc) as place
    from {runs} as run
    where @asksLive and run.id < @below
    order by run.id desc
    limit @budget`

/** The primary key of dead_letters, backwards. */
export const DEAD_WALK = `select ${DEAD_COLUMNS}, row_number() over (order by run desc) as place
    from {dead_letters}
    where @asksDead and run < @below
    order by run desc
    limit @budget`

/** attempts_by_run (run) of each day between the bounds, backwards, merged. */
export const ENDED_WALK = `select ${ENDED_COLUMNS}, row_number() over (order by run desc) as place
    from {attempts} as attempt
    where @asksEnded and run < @below
      and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
    order by run desc
    limit @budget`

/** What each partial index leaves out must be left out of the statement as well. */
const INDEXED = {
  job: "job = @value",
  tenant: "tenant = @value and tenant <> ''",
  schedule: "schedule = @value and schedule is not null",
} as const

/** attempts_by_job, attempts_by_tenant or attempts_by_schedule of each day between the bounds, backwards, merged. */
export function endedOf(column: keyof typeof INDEXED): string {
  return `select ${ENDED_COLUMNS}, row_number() over (order by run desc) as place
    from {attempts} as attempt
    where @asksEnded and ${INDEXED[column]} and run < @below
      and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
    order by run desc
    limit @budget`
}

/** The live runs of a schedule, of which there are few: runs_by_schedule. */
export const LIVE_OF_SCHEDULE = sorted(`(
      select ${LIVE_COLUMNS}
      from {runs} as run
      where @asksLive and schedule = @value
      offset 0
    )`)

/** Rows that another index led to, in the order of their ids: there are few of them. */
export function sorted(found: string): string {
  return `select found.*, row_number() over (order by id desc) as place
    from ${found} as found
    where id < @below
    order by id desc
    limit @budget`
}
