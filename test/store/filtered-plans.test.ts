import { beforeAll, expect, it } from "vitest"
import { parseFilter } from "../../src/filter/parse.ts"
import { readingOf } from "../../src/operations/runs/reading.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { countRunsByJob } from "../../src/store/runs/count-by-job.ts"
import { countRunsBySchedule } from "../../src/store/runs/count-by-schedule.ts"
import { countRunsByTenant } from "../../src/store/runs/count-by-tenant.ts"
import { countNewestRuns } from "../../src/store/runs/count-newest.ts"
import { listRunsById } from "../../src/store/runs/list-by-id.ts"
import { listRunsByJob } from "../../src/store/runs/list-by-job.ts"
import { listRunsBySchedule } from "../../src/store/runs/list-by-schedule.ts"
import { listRunsByTenant } from "../../src/store/runs/list-by-tenant.ts"
import { listNewestRuns } from "../../src/store/runs/list-newest.ts"
import { loadRuns } from "../../src/store/runs/load.ts"
import { scheduleIdsCalled } from "../../src/store/schedules/ids-called.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { execute, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const NOW = Date.parse("2026-06-11T00:00Z")
const DAYS = 30
const TABLES = /^(runs|dead_letters|attempts_.*|schedules)$/
/** Time-ordered ids, newest first: the n-th is n seconds old. */
const ID = `(lpad(to_hex((${NOW} - n * 1000) >> 16), 8, '0') || '-' || lpad(to_hex((${NOW} - n * 1000) & 65535), 4, '0')
  || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`

describeEngines(
  "with a month of history and many live runs",
  (engine) => {
    let database: Database
    /** Versions before 18 count one row that they read beyond a limit. */
    let beyond = 0

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      const [server] = await rowsOf(database, "select current_setting('server_version_num')::int as version")
      beyond = Number(server?.["version"]) < 180_000 ? 1 : 0
      const partitions = Array.from({ length: DAYS }, (_, index) => {
        const [from, to] = [NOW - (index + 1) * 86_400_000, NOW - index * 86_400_000]
        const name = `attempts_long_${new Date(from).toISOString().slice(0, 10).replaceAll("-", "")}`
        const [first, last] = [from, to].map((ms) => `'${new Date(ms).toISOString()}'`)
        return `create table {${name}} partition of {attempts_long} for values from (${first}) to (${last});`
      })
      await execute(database, partitions.join("\n"))
      // Prepared while the tables are empty: a plan for that must not be one that reads all of them.
      for (const { statement, params } of asked("job:j1 tenant:t1")) await database.run(statement, params)
      await execute(
        database,
        `insert into {attempts} (run, claim, attempt, job, pool, enqueued_at, due_at, finished_at, outcome, run_state,
           input, history, tenant, schedule)
         select ${ID}, n, 1, 'j' || n % 100, 'default', at, at, at, 'succeeded', 'succeeded', '1', 'long',
           't' || n % 100,
           case when n % 100 = 1 then 'nightly' end
         from (
           select n, to_timestamp(${NOW / 1_000}) - n * interval '80 seconds' as at from generate_series(1, 30000) as n
         ) as attempt;
         insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, tenant)
         select ${ID}, 'j' || n % 100, 'default', 0, n, 'queued', {now}, {now}, '1', 't' || n % 100
         from generate_series(30001, 50000) as n;
         insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input,
           fingerprint)
         select ${ID}, 'j' || n % 100, 'default', 0, 1, {now}, {now}, '1', 'f' from generate_series(50001, 60000) as n`,
      )
      return () => database.close()
    })

    /** Every statement, with the parameters of a filter. */
    function asked(text: string) {
      const { params } = readingOf(parseFilter(text), NOW)
      const page = { ...params, below: "ffffffff-ffff-ffff-ffff-ffffffffffff", budget: 1_000n, limit: 51 }
      const ids = ["019eb33a-0000-7000-8000-000000000001"]
      return [
        ...[listNewestRuns, countNewestRuns].map((statement) => ({ statement, params: page })),
        ...[listRunsByJob, countRunsByJob].map(byValue("j1")),
        ...[listRunsByTenant, countRunsByTenant].map(byValue("t1")),
        ...[listRunsBySchedule, countRunsBySchedule].map(byValue("nightly")),
        { statement: listRunsById, params: { ...page, ids } },
        { statement: loadRuns, params: { ids, since: NOW - 86_400_000 } },
        { statement: scheduleIdsCalled, params: { names: ["a"] } },
      ] as unknown as readonly { statement: Statement<unknown, unknown>; params: unknown }[]

      function byValue(value: string) {
        return (statement: unknown) => ({ statement, params: { ...page, value } })
      }
    }

    /** What was looked at of the tables, by table or by all partitions. */
    async function readsOf(statement: Statement<unknown, unknown>, params: unknown) {
      for (let time = 0; time < 3; time += 1) await database.run(statement, params)
      const nodes = (await executedPlan(database, statement, params)).filter(({ table }) =>
        TABLES.test(table ?? ""),
      )
      expect(
        nodes.filter(({ type }) => /Seq Scan|Bitmap/.test(type)),
        statement.name,
      ).toEqual([])
      const readOf = (pattern: RegExp) =>
        nodes.filter(({ table = "" }) => pattern.test(table)).reduce((sum, { rows }) => sum + rows, 0)
      const days = new Set(
        nodes
          .filter(({ rows, table }) => rows > 0 && table?.startsWith("attempts"))
          .map(({ table }) => table),
      )
      return { ended: readOf(/^attempts/), live: readOf(/^runs$/), dead: readOf(/^dead/), days: days.size }
    }

    it("reads no table as a whole, though the plans were made when the tables were empty", async () => {
      for (const { statement, params } of asked("job:j1 tenant:t1 -tag:x input.a=1")) {
        const { ended, live, dead } = await readsOf(statement, params)
        // The budget of each store, and one row of each of the 33 partitions to merge by.
        const said = JSON.stringify({ name: statement.name, ended, live, dead })
        expect(ended <= 1_040 && live <= 1_000 + beyond && dead <= 1_000 + beyond, said).toBe(true)
      }
    })

    it.each([
      ["", { ended: 100, live: 51, dead: 51 }],
      ["state:succeeded", { ended: 100, live: 0, dead: 0 }],
      ["state:ready", { ended: 0, live: 51, dead: 0 }],
      ["state:dead", { ended: 0, live: 0, dead: 51 }],
    ])(
      "reads little more than the page by the ids, and only the stores that can hold it: %s",
      async (text, most) => {
        const [newest] = asked(text)
        if (!newest) throw new Error("no statement")
        const isWithin = (read: number, most: number) => read <= (most === 0 ? 0 : most + beyond)
        const { ended, live, dead } = await readsOf(newest.statement, newest.params)
        expect(
          [ended <= most.ended, isWithin(live, most.live), isWithin(dead, most.dead)],
          JSON.stringify({ ended, live, dead }),
        ).toEqual([true, true, true])
      },
    )

    it("reads the ended runs of a job by its index, and only the days that are asked for", async () => {
      const text = "state:succeeded job:j1 finished>=2026-06-01 finished<2026-06-04"
      const byJob = asked(text).find(({ statement }) => statement === (listRunsByJob as unknown))
      if (!byJob) throw new Error("no statement")
      expect(await readsOf(byJob.statement, byJob.params)).toMatchObject({ ended: 32, days: 3 })
    })

    it.each([
      ["job", "job:j1", listRunsByJob],
      ["tenant", "tenant:t1", listRunsByTenant],
      ["schedule", "schedule:nightly", listRunsBySchedule],
    ])("reads little more than a page of the ended runs of a %s that has many", async (_, text, list) => {
      const found = asked(`state:succeeded ${text}`).find(({ statement }) => statement === (list as unknown))
      if (!found) throw new Error("no statement")
      // A page of 51, and one row of each of the 33 partitions to merge by.
      expect((await readsOf(found.statement, found.params)).ended).toBeLessThanOrEqual(84)
    })
  },
  SERVERS,
)
