import { beforeAll, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { earliestEnd } from "../../src/store/attempts/earliest-end.ts"
import { findEnd } from "../../src/store/attempts/find-end.ts"
import { findSettled } from "../../src/store/attempts/find-settled.ts"
import { listAttemptsOfRun } from "../../src/store/attempts/list-of-run.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { idOf, record } from "../support/written-history.ts"

const host = createSystemHost()

describeEngines(
  "with a hundred days of history",
  (engine) => {
    const DAYS = 100
    const NEWEST = "2026-06-10T12:00Z"
    const id = idOf("2026-06-09T12:00Z")
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      const midnight = Date.parse("2026-06-11T00:00Z")
      const days = Array.from({ length: DAYS }, (_, index) => {
        const [from, to] = [midnight - (index + 1) * 86_400_000, midnight - index * 86_400_000]
        const name = `attempts_long_${new Date(from).toISOString().slice(0, 10).replaceAll("-", "")}`
        const [first, last] = [from, to].map((ms) => `'${new Date(ms).toISOString()}'`)
        return `create table {${name}} partition of {attempts_long} for values from (${first}) to (${last});`
      })
      await execute(database, days.join("\n"))
      await execute(
        database,
        `insert into {attempts} (run, claim, attempt, job, pool, enqueued_at, due_at, finished_at, outcome,
           history, tenant)
         select gen_random_uuid(), n, 1, 'job ' || n % 5, 'default', at, at, at, 'failed', 'long', 't' || n % 7
         from (select n, timestamptz '${NEWEST}' - n * interval '1 minute' as at from generate_series(1, 5000) as n)
           as attempt`,
      )
      await record(database, { run: id, finished: NEWEST, history: "long" })
      return () => database.close()
    })

    /** What a prepared statement reads of history, and how often it was planned anew. */
    async function readsOf<P, R>(statement: Statement<P, R>, params: P) {
      for (let time = 0; time < 7; time += 1) await database.run(statement, params)
      const nodes = await executedPlan(database, statement, params)
      const onHistory = nodes.filter(({ table }) => table?.startsWith("attempts_"))
      expect(onHistory.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      const plans = await rowsOf(
        database,
        `select custom_plans::int as n from pg_prepared_statements where name = '${statement.name}'`,
      )
      expect(plans).toEqual([{ n: 0 }])
      return {
        days: new Set(onHistory.map(({ table }) => table)).size,
        rows: onHistory.reduce((sum, { rows }) => sum + rows, 0),
      }
    }

    it.each([
      ["the end of a run", (since: number) => readsOf(findEnd, { ids: [id], since })],
      ["a settle", (since: number) => readsOf(findSettled, { ids: [id, id], claims: [7n, 8n], since })],
      ["the attempts of a run", (since: number) => readsOf(listAttemptsOfRun, { run: id, since })],
    ])("finds %s without touching the days before it was made", async (_, reads) => {
      // From two days before the id was made until now: the plan prunes the other days before execution.
      expect(await reads(earliestEnd([id]))).toEqual({ days: 4, rows: 1 })
      expect((await reads(0)).days).toBe(DAYS)
    })
  },
  SERVERS,
)
