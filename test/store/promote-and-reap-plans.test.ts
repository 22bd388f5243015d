import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { admitRuns } from "../../src/store/limits/admit.ts"
import { migrate } from "../../src/store/migrate.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { unparkHandled } from "../../src/store/runs/unpark-handled.ts"
import { unparkResumed } from "../../src/store/runs/unpark-resumed.ts"
import { releaseHeldRuns } from "../../src/store/schedules/release-held.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { addWorker } from "../support/parking.ts"
import { EVER } from "../support/runs.ts"
import { execute, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const RUNS = 400
/** After five executions PostgreSQL may keep a plan for good. */
const TIMES = 7

const batch = { limit: RUNS }
const due = { ...batch, from: 0, to: EVER }
const schedule = { schedule: host.newId() }

/** This many runs of each kind, all of them under a limit without a place. */
const RUNS_OF_EACH_KIND = `
  with new as (
    insert into {runs} (id, job, pool, priority, rank, stage, parked_for, limited, enqueued_at, due_at, input, schedule)
    select gen_random_uuid(), coalesce(why, 'none'), 'default', 0, n, stage, why, true, now(), now(), '{}',
      case when why = 'hold' then '${schedule.schedule}' end
    from generate_series(1, ${RUNS}) as n,
      unnest(array['waiting', 'parked', 'parked', 'parked', 'parked'], array[null, 'pause', 'handler', 'hold', 'limit'])
        as kind (stage, why)
    returning id, rank, parked_for
  )
  insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
  select id, 'some', 'job', 'some', case when parked_for = 'limit' then false end, 0, rank
  from new`

describeEngines(
  "a statement that returns runs, prepared on an empty table,",
  (engine) => {
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      await execute(database, "alter table {runs} set (autovacuum_enabled = off); analyze {runs}")
      await addWorker(database, { leaseMs: 3_600_000, jobs: ["handler"] })
      for (let time = 0; time < TIMES; time += 1) {
        await database.run(promoteRuns, due)
        for (const statement of [unparkResumed, unparkHandled]) await database.run(statement, batch)
        await database.run(releaseHeldRuns, schedule)
        await database.run(admitRuns, { ids: [], keys: [] })
      }
      await execute(database, RUNS_OF_EACH_KIND)
    })

    afterAll(() => database.close())

    /** It moves all runs of its kind, and walks each of its lists as often as the text says, not once per row. */
    async function expectFewSearches<P, R>(statement: Statement<P, R>, params: P): Promise<void> {
      const nodes = await executedPlan(database, statement, params)
      const updates = nodes.filter(({ type, table }) => type === "ModifyTable" && table === "runs")
      expect(updates.flatMap(({ below }) => below.map(({ rows }) => rows))).toContain(RUNS)
      expect(nodes.filter(({ searches }) => searches > 1)).toEqual([])
    }

    describe("walks no list once per row:", () => {
      it("runs/promote", () => expectFewSearches(promoteRuns, due))
      it("runs/unpark-resumed", () => expectFewSearches(unparkResumed, batch))
      it("runs/unpark-handled", () => expectFewSearches(unparkHandled, batch))
      it("schedules/release-held", () => expectFewSearches(releaseHeldRuns, schedule))

      it("limits/admit", async () => {
        const rows = await rowsOf(database, "select id from {runs} where parked_for = 'limit'")
        const ids = rows.map(({ id }) => String(id))
        expect(ids.length).toBeGreaterThanOrEqual(RUNS)
        await database.run(admitRuns, { ids: ids.slice(RUNS), keys: ["some"] })
        await expectFewSearches(admitRuns, { ids: ids.slice(0, RUNS), keys: ["some"] })
      })
    })
  },
  SERVERS,
)
