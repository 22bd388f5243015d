import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { listUnhandled } from "../../src/store/runs/list-unhandled.ts"
import { parkEverything } from "../../src/store/runs/park-everything.ts"
import { parkPausedJobs } from "../../src/store/runs/park-paused-jobs.ts"
import { parkPausedPools } from "../../src/store/runs/park-paused-pools.ts"
import { parkPausedTenants } from "../../src/store/runs/park-paused-tenants.ts"
import { parkUnhandled } from "../../src/store/runs/park-unhandled.ts"
import { unparkHandled } from "../../src/store/runs/unpark-handled.ts"
import { unparkResumed } from "../../src/store/runs/unpark-resumed.ts"
import { unparkTenants } from "../../src/store/runs/unpark-tenants.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan, type PlanNode } from "../support/executed-plan.ts"
import { addRuns, addWorker, pauseBy } from "../support/parking.ts"
import { execute } from "../support/sql.ts"

const host = createSystemHost()
const BATCH = 100
const DEPTH = 500
const LANES = 6
/** After five executions PostgreSQL may keep a plan for good. */
const TIMES = 7

const batch = { limit: BATCH }
const BATCHED = [parkPausedPools, parkEverything, unparkResumed, unparkTenants, unparkHandled]
const walk = { lanes: 100, depth: DEPTH, limit: BATCH }
const old = { ...walk, afterMs: 60_000 }
const all = { except: [], most: BATCH }

describeEngines(
  "a mover's statement that was prepared on an empty table, then met 300,000 runs,",
  (engine) => {
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      // The planner's statistics, and when they change, are not up to the test.
      await execute(database, "alter table {runs} set (autovacuum_enabled = off)")
      for (let time = 0; time < TIMES; time += 1) {
        for (const statement of BATCHED) await database.run(statement, batch)
        await database.run(parkPausedJobs, walk)
        await database.run(parkPausedTenants, walk)
        await database.run(parkUnhandled, old)
        await database.run(listUnhandled, all)
      }
      await addWorker(database, { leaseMs: 3_600_000, pools: ["default", "other"] })
      await pauseBy(database, "pool", "other")
      await pauseBy(database, "job", "halted")
      await pauseBy(database, "tenant", "acme")
      for (const pool of ["default", "other"]) {
        for (const priority of [0, 1, 2]) {
          await addRuns(database, 30_000, { pool, priority })
          for (const job of ["halted", "unknown"]) await addRuns(database, 1_000, { pool, priority, job })
        }
      }
      await execute(
        database,
        `update {runs} set rank = rank - 3600000000;
         insert into {runs} (id, job, pool, tenant, priority, rank, stage, parked_for, enqueued_at, due_at, input)
         select gen_random_uuid(), job, 'default', tenant, 0, n, 'parked', why, now(), now(), '{}'
         from generate_series(1, 20000) as n,
           unnest(
             array['greet', 'halted', 'unknown', 'greet', 'greet'],
             array['pause', 'pause', 'handler', 'tenant', 'tenant'],
             array['', '', '', 'acme', 'zeta']
           ) as kind (job, why, tenant)`,
      )
    })

    afterAll(() => database.close())

    /** How many rows of the table of runs, or entries of its indexes, it reads at most in one place. */
    async function readsOf<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
      const nodes = await executedPlan(database, statement, params)
      const onRuns = nodes.filter(({ table }) => table === "runs")
      expect(onRuns.length).toBeGreaterThan(0)
      expect(onRuns.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      expect(nodes.filter((node) => /Hash|Merge/.test(node.type) && readsRuns(node))).toEqual([])
      return Math.max(...onRuns.map(({ rows }) => rows))
    }

    describe("reads no more than it may move or look at:", () => {
      it.each(BATCHED)("$name", async (statement) => {
        expect(await readsOf(statement, batch)).toBeLessThanOrEqual(2 * BATCH)
      })

      it.each([
        [parkPausedJobs.name, () => readsOf(parkPausedJobs, walk)],
        [parkPausedTenants.name, () => readsOf(parkPausedTenants, walk)],
        [parkUnhandled.name, () => readsOf(parkUnhandled, old)],
      ])("%s", async (_, reads) => {
        expect(await reads()).toBeLessThanOrEqual(LANES * DEPTH)
      })

      it("runs/list-unhandled", async () => {
        expect(await readsOf(listUnhandled, all)).toBeLessThanOrEqual(2 * BATCH)
      })
    })
  },
  SERVERS,
)

/** Whether rows of the table itself flow into this node; rows gathered by a CTE, or named one by one, do not count. */
function readsRuns(node: PlanNode): boolean {
  return node.below.some(
    (child) =>
      (child.table === "runs" && child.type !== "Tid Scan") ||
      (child.type !== "CTE Scan" && readsRuns(child)),
  )
}
