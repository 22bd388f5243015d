/** What the history checker reads of a schema is what the schema holds. */
import { expect, it } from "vitest"
import { describeEngines } from "../support/engines.ts"
import { readFinal } from "../support/process/final-read.ts"
import { execute } from "../support/sql.ts"
import { idOf, record, withHistory } from "../support/written-history.ts"

const NOON = "2026-03-02T12:00Z"
const NOON_US = Date.parse(NOON) * 1_000
const SCHEDULE = "0199f3a0-0000-7000-8000-00000000000a"

describeEngines("the final read", (engine) => {
  it("holds runs, history, schedules, keys and limits, with instants in microseconds", async () => {
    const database = await withHistory(engine, NOON)
    const [run, live] = [idOf(NOON), idOf(NOON)]
    await record(database, { run, finished: NOON })
    await execute(
      database,
      `create table {fires_2026_03} partition of {fires} for values from ('2026-03-01') to ('2026-04-01');
      insert into {runs} (id, job, pool, priority, rank, stage, parked_for, enqueued_at, due_at, input, key)
        values ('${live}', 'greet', 'default', 3, 1, 'parked', 'limit', '${NOON}', '${NOON}', '0', 'k');
      insert into {keys} (tenant, job, key, run) values ('', 'greet', 'k', '${live}');
      insert into {limits} (name, cap) values ('greet', 2);
      insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
        values ('${live}', 'greet', 'job', 'greet', false, 3, 1);
      insert into {schedules} (id, name, job, spec, input, settings, state, cursor, created_at, changed_at)
        values ('${SCHEDULE}', 'hourly', 'greet', '{"every":"1h"}', '0', '{}', 'active',
          '${NOON}', '${NOON}', '${NOON}');
      insert into {fires} (schedule, occurrence, outcome, due_at, decided_at, run, last)
        values ('${SCHEDULE}', '${NOON}', 'fired', '${NOON}', '${NOON}', '${run}', '${NOON}');
      insert into {audit} (at, actor, action, subject, reason, before) values
        ('${NOON}', 'ada', 'run.cancel', 'run:${run}', '', '{"state":"ready"}'),
        ('${NOON}', 'ada', 'schedule.pause', 'schedule:${SCHEDULE}', '', '{"version":1}')`,
    )
    expect(await readFinal(database)).toMatchObject({
      nowUs: NOON_US,
      runs: [{ run: live, state: "parked", parkedFor: "limit", key: "k", priority: 3, dueAtUs: NOON_US }],
      attempts: [{ run, pool: "default", finishedAtUs: NOON_US }],
      audit: [
        { action: "run.cancel", run, schedule: null, atUs: NOON_US },
        { action: "schedule.pause", run: null, schedule: SCHEDULE, before: { version: 1 } },
      ],
      schedules: [{ id: SCHEDULE, name: "hourly", spec: { every: "1h" }, cursorUs: NOON_US, nextAtUs: null }],
      fires: [{ schedule: SCHEDULE, occurrenceUs: NOON_US, outcome: "fired", run, count: 1, intoUs: null }],
      keys: [{ key: "k", run: live, expiresAtUs: null }],
      limits: [{ name: "greet", cap: 2 }],
      runLimits: [{ run: live, key: "greet", limit: "greet", admitted: false }],
    })
  })

  it("holds what the application wrote beside it, where it has tables for that", async () => {
    const { database } = await engine.migrated()
    expect(await readFinal(database)).toMatchObject({ runs: [], marks: null, finishes: null })
    const run = idOf(NOON)
    await execute(
      database,
      `create table {marks} (mark text primary key, run uuid);
      create table {finishes} (run uuid, claim text);
      insert into {marks} values ('m', '${run}'); insert into {finishes} values ('${run}', '-7')`,
    )
    expect(await readFinal(database)).toMatchObject({
      marks: [{ mark: "m", run }],
      finishes: [{ run, claim: "-7" }],
    })
  })
})
