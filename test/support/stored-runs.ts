/** Runs of all states, put into the stores where they would be if they had come about by themselves. */
import fc from "fast-check"
import type { FilteredRun } from "../../src/filter/fields.ts"
import { STORES } from "../../src/filter/plan.ts"
import { json } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { statement } from "../../src/store/statement.ts"
import { NOW, runs } from "./filter-arbitraries.ts"
import { execute } from "./sql.ts"
import { idOf } from "./written-history.ts"

/** So many runs as chance makes them, the same for the same seed. Ids are in no order of anything else. */
export function someRuns(count: number, seed: number): FilteredRun[] {
  return fc.sample(runs, { numRuns: count, seed }).map((run, index) => {
    const id = idOf(new Date(NOW - ((index * 7) % count) * 1_000).toISOString())
    const { startedAt, worker, error, durationMs: _, finishedAt = new Date(NOW - 1), ...common } = run
    const isLive = (STORES.runs as readonly string[]).includes(run.state)
    const started = startedAt && startedAt <= finishedAt ? startedAt : undefined
    const took = started && { startedAt: started, durationMs: finishedAt.getTime() - started.getTime() }
    const hasWorker = worker !== undefined && (!isLive || run.state === "running")
    return {
      ...common,
      id,
      ...(run.state === "dead" ? { error: { fingerprint: "f0", ...error } } : error && { error }),
      ...(hasWorker && { worker: run.state === "running" ? RUNNING_WORKER : worker }),
      ...(run.state === "running" && { worker: RUNNING_WORKER, attempt: Math.max(1, run.attempt) }),
      ...(!isLive && { finishedAt, ...took }),
    }
  })
}

const RUNNING_WORKER = "here:1"
const LEASE = "01890a5d-ac96-774b-bcce-000000000001"

/** Puts them where runs of their states are. */
export async function store(database: Database, all: readonly FilteredRun[]): Promise<void> {
  await execute(
    database,
    `insert into {workers} (lease, hostname, pid, pools, started_at, expires_at)
     values ('${LEASE}', 'here', 1, array['x'], '2026-01-01Z', '2026-04-01Z') on conflict do nothing`,
  )
  const schedules = new Map(all.flatMap(({ schedule }) => (schedule ? [[schedule.id, schedule.name]] : [])))
  const named = [...schedules].map(([id, name]) => ({ id, name }))
  await database.run(insertSchedules, { rows: JSON.stringify(named) })
  const rowsOf = (states: readonly string[]) =>
    JSON.stringify(all.filter(({ state }) => states.includes(state)).map((run) => rowOf(run, schedules)))
  await database.run(insertLive, { rows: rowsOf(STORES.runs) })
  await database.run(insertDead, { rows: rowsOf(STORES.dead_letters) })
  await database.run(insertEnded, { rows: rowsOf([...STORES.dead_letters, ...STORES.attempts]) })
}

/** The name of a schedule is that of its id: chance may have given one id two names. */
export function asStored(all: readonly FilteredRun[]): FilteredRun[] {
  const names = new Map(all.flatMap(({ schedule }) => (schedule ? [[schedule.id, schedule.name]] : [])))
  return all.map((run) => {
    const { schedule, error } = run
    return {
      ...run,
      ...(schedule && { schedule: { ...schedule, name: names.get(schedule.id) ?? "" } }),
      ...(error && { error }),
    }
  })
}

function rowOf(run: FilteredRun, schedules: ReadonlyMap<string, string>) {
  const isRunning = run.state === "running"
  return {
    ...{ id: run.id, state: run.state, job: run.job, pool: run.pool, priority: run.priority },
    stage: { waiting: "waiting", parked: "parked" }[run.state as string] ?? "queued",
    attempt: run.attempt - (isRunning ? 1 : 0),
    ...{
      enqueued_at: run.enqueuedAt,
      due_at: run.dueAt,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
    },
    ...{ tenant: run.tenant ?? "", tags: run.tags, key: run.key, input: run.input, worker: run.worker },
    ...(isRunning && { lease: LEASE, claim: 1 }),
    ...(run.error && {
      error_code: run.error.code,
      fingerprint: run.error.fingerprint,
      last_error: { ...run.error, message: "no luck" },
    }),
    schedule: run.schedule && schedules.has(run.schedule.id) ? run.schedule.id : undefined,
  }
}

const COLUMNS = `
  id uuid, state text, stage text, job text, pool text, priority int, attempt int, enqueued_at timestamptz,
  due_at timestamptz, started_at timestamptz, finished_at timestamptz, tenant text, tags text[], key text, input json,
  worker text, lease uuid, claim bigint, error_code text, fingerprint text, last_error json, schedule text`

const insertSchedules = statement({
  name: "test/insert-schedules",
  params: { rows: json },
  returns: {},
  sql: `
  insert into {schedules} (id, name, job, spec, input, settings, state, cursor, created_at, changed_at)
  select id, name, 'a', '{}', '{}', '{}', 'active', {now}, {now}, {now}
  from json_to_recordset(@rows) as row (id uuid, name text)`,
})

const insertLive = statement({
  name: "test/insert-live",
  params: { rows: json },
  returns: {},
  sql: `
  insert into {runs} (id, job, pool, priority, rank, stage, parked_for, enqueued_at, due_at, attempt, input, lease,
    claim, tenant, tags, key, last_error, schedule)
  select id, job, pool, priority, 0, stage, case when stage = 'parked' then 'pause' end, enqueued_at, due_at, attempt,
    coalesce(input, 'null'), lease, claim, tenant, tags, key, last_error, schedule
  from json_to_recordset(@rows) as row (${COLUMNS})`,
})

const insertDead = statement({
  name: "test/insert-dead",
  params: { rows: json },
  returns: {},
  sql: `
  insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, due_at, started_at, died_at, input,
    tenant, tags, key, worker, error_code, error_message, fingerprint, schedule)
  select id, job, pool, priority, attempt, enqueued_at, due_at, started_at, finished_at, coalesce(input, 'null'),
    tenant, tags, key, worker, error_code, case when last_error is not null then 'no luck' end, fingerprint, schedule
  from json_to_recordset(@rows) as row (${COLUMNS})`,
})

/** Before its last attempt each run had another, which is not its end. */
const insertEnded = statement({
  name: "test/insert-ended",
  params: { rows: json },
  returns: {},
  sql: `
  insert into {attempts} (run, claim, attempt, job, pool, priority, enqueued_at, due_at, started_at, finished_at,
    outcome, run_state, input, tenant, tags, key, worker, error_code, error_message, fingerprint, schedule, history)
  select id, claim.number, attempt, job, pool, case when is_last then priority end, enqueued_at, due_at, started_at,
    finished_at, 'failed', case when is_last then case state when 'discarded' then 'dead' else state end end,
    case when is_last then coalesce(input, 'null') end, tenant, case when is_last then tags end,
    case when is_last then key end, worker, error_code, case when last_error is not null then 'no luck' end,
    fingerprint, schedule, (array['short', 'standard', 'long'])[1 + abs(hashtext(id::text)) % 3]
  from json_to_recordset(@rows) as row (${COLUMNS})
  cross join (values (1, false), (2, true)) as claim (number, is_last)`,
})
