import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import type { PlanNode } from "../support/executed-plan.ts"
import { fillTables, HOT, type HotStatement, openHot } from "../support/hot-statements.ts"
import { host } from "../support/runs.ts"
import { execute } from "../support/sql.ts"

/** After five executions PostgreSQL may keep a plan for good. */
const TIMES = 7
const LARGE = ["runs", "run_limits", "limit_waves", "keys", "dead_letters"]

describeEngines(
  "a statement that was prepared on empty tables, then met 300,000 runs,",
  (engine) => {
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      const partition =
        "create table {history} partition of {attempts_standard} for values from (minvalue) to (maxvalue)"
      const quiet = LARGE.map((table) => `alter table {${table}} set (autovacuum_enabled = off)`)
      await execute(database, [partition, ...quiet].join(";\n"))
      const hot = await openHot(database)
      // A worker that has been idle for a while.
      for (let time = 0; time < TIMES; time += 1) {
        for (const { run } of Object.values(HOT)) await run(database, hot)
      }
      await execute(database, LARGE.map((table) => `delete from {${table}}`).join(";\n"))
      await fillTables(database)
    })

    afterAll(() => database.close())

    /** The plan, checked to be independent of the number of runs. */
    async function planOf(of: HotStatement): Promise<PlanNode[]> {
      const nodes = await of.plan(database, await openHot(database))
      const onLarge = nodes.filter(({ table }) => LARGE.includes(table ?? ""))
      expect(onLarge.length).toBeGreaterThan(0)
      expect(onLarge.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      expect(onLarge.filter(({ rows }) => rows > of.most)).toEqual([])
      expect(nodes.filter((node) => /Hash|Merge/.test(node.type) && mightReadAll(node))).toEqual([])
      // A nested loop of every row with every other would be a hundred times as many.
      expect(nodes.filter(({ mismatches }) => mismatches > of.most)).toEqual([])
      return nodes
    }

    describe("still uses its indexes:", () => {
      it.each(Object.entries(HOT))("%s", async (_, of) => {
        const onLarge = (await planOf(of)).filter(({ table }) => LARGE.includes(table ?? ""))
        const used = new Set(onLarge.flatMap(({ index }) => index ?? []))
        const known = [...LARGE.map((table) => `${table}_pkey`), ...of.indexes]
        expect([...used].filter((index) => !known.includes(index))).toEqual([])
        expect(of.indexes.filter((index) => !used.has(index))).toEqual([])
      })
    })

    it("reads one entry to know when the next run is due", async () => {
      const nodes = await planOf(HOT["next-due"] ?? expect.fail("there is no such statement"))
      expect(nodes.find(({ table }) => table === "runs")?.rows).toBe(1)
    })
  },
  SERVERS,
)

/** Whether rows of such a table flow into this node without a limit; what a CTE has gathered is little. */
function mightReadAll({ below }: PlanNode): boolean {
  return below.some(
    (child) =>
      !child.isAside &&
      ((LARGE.includes(child.table ?? "") && !child.isExecuted) ||
        (child.type !== "CTE Scan" && mightReadAll(child))),
  )
}
