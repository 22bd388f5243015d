import { expect, it } from "vitest"
import { createUpkeep } from "../../src/engine/process/upkeep.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { findEnds, findSettledRuns, listAttempts } from "../../src/store/attempts/by-run.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import { migrate } from "../../src/store/migrate.ts"
import { MIGRATIONS } from "../../src/store/migrations.generated.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"

const host = createSystemHost()

describeEngines("a schema of version 1 with runs and history in it", (engine) => {
  const [FIRST, SECOND] = ["2026-03-01T09:00Z", "2026-03-02T09:00Z"]

  /** What the first version had written. */
  async function versionOne() {
    const database = await engine.open()
    await migrate({ ...host, database }, MIGRATIONS.slice(0, 1))
    const clock = await takeClock(database, SECOND)
    const ids = { done: host.newId(), dead: host.newId(), waiting: host.newId(), running: host.newId() }
    const lease = host.newId()
    const days = [1, 2].map(
      (day) => `create table {attempts_2026030${day}} partition of {attempts}
        for values from ('2026-03-0${day}Z') to ('2026-03-0${day + 1}Z');`,
    )
    const attempt =
      "run, claim, attempt, job, pool, lease, enqueued_at, due_at, started_at, finished_at, outcome"
    const run = "id, job, pool, priority, rank, state, enqueued_at, due_at, input"
    await execute(
      database,
      `${days.join("\n")}
       insert into {attempts} (${attempt}, run_state, input, result) values
         ('${ids.done}', 1, 2, 'greet', 'default', '${lease}', '${FIRST}', '${FIRST}', '${FIRST}', '${SECOND}',
          'succeeded', 'succeeded', '{"name":"Ada"}', '"Hello"');
       insert into {attempts} (${attempt}, error_message) values
         ('${ids.done}', 2, 1, 'greet', 'default', '${lease}', '${FIRST}', '${FIRST}', '${FIRST}', '${FIRST}',
          'failed', 'no luck');
       insert into {attempts} (${attempt}, run_state, input, error_message) values
         ('${ids.dead}', 3, 1, 'greet', 'default', '${lease}', '${FIRST}', '${FIRST}', '${FIRST}', '${FIRST}',
          'failed', 'dead', '0', 'no luck');
       insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input, error_message)
         values ('${ids.dead}', 'greet', 'default', 0, 1, '${FIRST}', '${FIRST}', '0', 'no luck');
       insert into {runs} (${run}) values
         ('${ids.waiting}', 'greet', 'default', 0, 1, 'waiting', '${SECOND}', '${SECOND}', '{"name":"Bob"}');
       insert into {runs} (${run}, lease, claim) values
         ('${ids.running}', 'greet', 'default', 0, 1, 'running', '${SECOND}', '${SECOND}', '0', '${lease}', 9);
       insert into {workers} (lease, hostname, pid, pools, started_at, expires_at)
         values ('${lease}', 'here', 1, array['default'], '${SECOND}', '${SECOND}');`,
    )
    return { database, clock, ids, lease }
  }

  it("keeps all of it, readable as before", async () => {
    const { database, ids, lease } = await versionOne()
    const before = await rowsOf(database, "select run, claim, finished_at from {attempts} order by claim")
    expect(await migrate({ ...host, database })).toEqual(MIGRATIONS.slice(1).map(({ version }) => version))
    expect(await rowsOf(database, "select run, claim, finished_at from {attempts} order by claim")).toEqual(
      before,
    )
    const ends = await findEnds(database, Object.values(ids))
    expect(Object.fromEntries(ends.map(({ id, run_state: state }) => [id, state]))).toEqual({
      [ids.done]: "succeeded",
      [ids.dead]: "dead",
      [ids.waiting]: null,
      [ids.running]: null,
    })
    expect(ends.find(({ id }) => id === ids.done)?.result).toBe('"Hello"')
    const defaults = { generation: 1, charged: true, tenant: "", cause: null, logs: null, lease }
    expect(await listAttempts(database, ids.done)).toMatchObject([
      { claim: 2n, attempt: 1, error_message: "no luck", ...defaults },
      { claim: 1n, attempt: 2, run_state: "succeeded", ...defaults },
    ])
    expect(await findSettledRuns(database, [{ id: ids.done, claim: 1n }])).toMatchObject([{ id: ids.done }])
    expect(
      await rowsOf(database, "select run, attempts, generation, input, history from {dead_letters}"),
    ).toEqual([{ run: ids.dead, attempts: 1, generation: 1, input: 0, history: "standard" }])
    expect(
      await rowsOf(
        database,
        "select id, {schema}.state(runs), input, tenant, history, claim from {runs} order by 2",
      ),
    ).toEqual([
      { id: ids.running, state: "running", input: 0, tenant: "", history: "standard", claim: 9 },
      {
        id: ids.waiting,
        state: "waiting",
        input: { name: "Bob" },
        tenant: "",
        history: "standard",
        claim: null,
      },
    ])
    // What was running can be taken back.
    expect(await rowsOf(database, "select lease, claim, runs from {claims}")).toEqual([
      { lease, claim: 9, runs: [ids.running] },
    ])
  })

  it("goes on with the days that are there, for processes of either version", async () => {
    const { database, clock } = await versionOne()
    await migrate({ ...host, database })
    expect(await makePartitions(database, 0)).toEqual(["attempts_long_20260302", "attempts_short_20260302"])
    // As the first version writes it: it knows nothing of classes.
    await execute(
      database,
      `insert into {attempts} (run, claim, attempt, job, pool, lease, enqueued_at, due_at, finished_at, outcome)
       values ('${host.newId()}', 4, 1, 'greet', 'default', '${host.newId()}', '${SECOND}', '${SECOND}', '${SECOND}', 'lost')`,
    )
    await clock.set("2026-03-09T00:00Z")
    await createUpkeep({ ...host, database }).tick(new AbortController().signal)
    const left = await rowsOf(database, "select distinct finished_at::date::text as day from {attempts}")
    expect(left).toEqual([{ day: "2026-03-02" }])
  })
})
