import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { finishRuns } from "../../src/store/runs/finish.ts"
import { nextDue } from "../../src/store/runs/next-due.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { retryRuns } from "../../src/store/runs/retry.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan, type PlanNode } from "../support/plan.ts"
import { claim, host, openLease } from "../support/runs.ts"
import { execute } from "../support/sql.ts"

const BATCH = 128
/** After five executions PostgreSQL may keep a plan for good. */
const TIMES = 7

describeEngines(
  "a statement that was prepared on an empty table, then met 300,000 runs,",
  (engine) => {
    let database: Database
    let lease: string
    let claimed: { claim: bigint; ids: readonly string[] }

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      // What the statistics would say, and when, is not up to us.
      await execute(
        database,
        `alter table {runs} set (autovacuum_enabled = off);
         create table {history} partition of {attempts} for values from (minvalue) to (maxvalue);`,
      )
      lease = await openLease(database, 3_600_000)
      await prepareOnEmptyTable()
      await execute(
        database,
        `insert into {runs} (id, job, pool, priority, rank, state, enqueued_at, due_at, input)
           select gen_random_uuid(), 'greet', 'default', n % 3, n, 'ready', now(), now(), '{}'
           from generate_series(1, 300000) as n;
         insert into {runs} (id, job, pool, priority, rank, state, enqueued_at, due_at, input)
           select gen_random_uuid(), 'greet', 'default', 0, n, 'waiting', now(), now() + n * interval '1 ms', '{}'
           from generate_series(-30000, 30000) as n;`,
      )
    })

    afterAll(() => database.close())

    /** A worker that has had nothing to do for a while. */
    async function prepareOnEmptyTable(): Promise<void> {
      claimed = { claim: 1n, ids: Array.from({ length: BATCH }, host.newId) }
      for (let time = 0; time < TIMES; time += 1) {
        await claim(database, lease, { limit: BATCH })
        await database.run(finishRuns, finishParams())
        await database.run(retryRuns, retryParams())
        await database.run(promoteRuns, { limit: BATCH })
        await database.run(reapRuns, { leases: [lease], limit: BATCH })
        await database.run(nextDue, {})
      }
    }

    const finishParams = () => ({
      ...settleParams(),
      states: claimed.ids.map(() => "succeeded"),
      results: claimed.ids.map(() => "{}"),
    })
    const retryParams = () => ({
      ...settleParams(),
      charged: claimed.ids.map(() => true),
      delaysMs: claimed.ids.map(() => 10_000),
    })
    const settleParams = () => {
      const nothing = claimed.ids.map(() => null)
      return {
        lease,
        ids: claimed.ids,
        claims: claimed.ids.map(() => claimed.claim),
        outcomes: claimed.ids.map(() => "failed"),
        startedAgoMs: claimed.ids.map(() => 5),
        ...{ errorCodes: nothing, errorMessages: nothing, errorStacks: nothing },
      }
    }

    /** The plan, after making sure that it does not depend on how many runs there are. */
    async function planOf<P, R>(statement: Statement<P, R>, params: P): Promise<PlanNode[]> {
      const nodes = await executedPlan(database, statement, params)
      const onRuns = nodes.filter(({ table }) => table === "runs")
      expect(onRuns.length).toBeGreaterThan(0)
      expect(onRuns.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      expect(nodes.filter((node) => /Hash|Merge/.test(node.type) && readsRuns(node))).toEqual([])
      expect(onRuns.filter(({ rows }) => rows > 2 * BATCH)).toEqual([])
      return nodes
    }

    const indexesOf = (nodes: PlanNode[]) =>
      new Set(nodes.filter(({ table }) => table === "runs").flatMap(({ index }) => index ?? []))
    const typesOf = (nodes: PlanNode[]) => nodes.map(({ type }) => type)

    describe("still goes by its index:", () => {
      it("claim, without a sort", async () => {
        const params = { lease, claim: 2n, pool: "default", jobs: ["greet"], except: [], limit: BATCH }
        const nodes = await planOf(claimRuns, params)
        expect(indexesOf(nodes)).toEqual(new Set(["runs_ready"]))
        expect(typesOf(nodes)).not.toContain("Sort")
      })

      it("promote, without a sort", async () => {
        const nodes = await planOf(promoteRuns, { limit: BATCH })
        expect(indexesOf(nodes)).toEqual(new Set(["runs_waiting"]))
        expect(typesOf(nodes)).not.toContain("Sort")
      })

      it("next-due, reading one entry", async () => {
        const nodes = await planOf(nextDue, {})
        expect(indexesOf(nodes)).toEqual(new Set(["runs_waiting"]))
        expect(nodes.find(({ table }) => table === "runs")?.rows).toBe(1)
      })

      it("finish", async () => {
        claimed = await claim(database, lease, { limit: BATCH })
        const nodes = await planOf(finishRuns, finishParams())
        expect(indexesOf(nodes)).toEqual(new Set(["runs_pkey"]))
      })

      it("retry", async () => {
        claimed = await claim(database, lease, { limit: BATCH })
        const nodes = await planOf(retryRuns, retryParams())
        expect(indexesOf(nodes)).toEqual(new Set(["runs_pkey"]))
      })

      it("reap", async () => {
        await claim(database, lease, { limit: BATCH })
        const nodes = await planOf(reapRuns, { leases: [lease], limit: BATCH })
        expect(indexesOf(nodes)).toEqual(new Set(["runs_leased"]))
      })
    })
  },
  SERVERS,
)

/** Whether rows of the table itself flow into this node; what a CTE has gathered does not count. */
function readsRuns(node: PlanNode): boolean {
  return node.below.some((child) => child.table === "runs" || (child.type !== "CTE Scan" && readsRuns(child)))
}
