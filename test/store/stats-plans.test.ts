/** What operators read is found by indexes, and costs no more than its caps allow. */
import { beforeAll, expect, it } from "vitest"
import { createSystemHost } from "../../src/runtime/system.ts"
import { storedSteps } from "../../src/stats/step.ts"
import { emptyEntry } from "../../src/stats/tally.ts"
import { listAudit } from "../../src/store/audit/list.ts"
import { listAuditByAction } from "../../src/store/audit/list-by-action.ts"
import { listAuditByActor } from "../../src/store/audit/list-by-actor.ts"
import { listAuditBySubject } from "../../src/store/audit/list-by-subject.ts"
import type { Database } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { readPools } from "../../src/store/pools/depths.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { appendStats } from "../../src/store/stats/append.ts"
import { rollUpStats } from "../../src/store/stats/roll-up.ts"
import { statsSeries } from "../../src/store/stats/series.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { execute, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const TABLES = ["runs", "run_limits", "stats", "audit"]

describeEngines(
  "what operators read",
  (engine) => {
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      await execute(
        database,
        `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, lease, claim)
         select gen_random_uuid(), 'greet', 'pool ' || n % 3, n % 2, n, 'queued', now(),
           now() - n * interval '1 s', '1', case when n <= 30 then gen_random_uuid() end, case when n <= 30 then 1 end
         from generate_series(1, 6000) as n;
         insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
         select gen_random_uuid(), 'greet', 'pool 0', 0, n, 'waiting', now(), now() + n * interval '1 s', '1'
         from generate_series(1, 6000) as n;
         insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, parked_for)
         select gen_random_uuid(), 'greet', 'pool 1', 0, n, 'parked', now(), now(), '1', 'pause'
         from generate_series(1, 40) as n;
         insert into {audit} (at, actor, action, subject, reason)
         select now() - n * interval '1 s', 'actor ' || n % 50, 'action ' || n % 50, 'subject ' || n % 50, ''
         from generate_series(1, 5000) as n;
         insert into {stats} (part, place, step, at, job, pool, tenant, outcome, ends, retries, dead, wait_ms, waits,
           duration_ms, durations)
         select gen_random_uuid(), 1, step, date_trunc('hour', now()) - n * interval '1 minute', 'greet', 'default', '',
           'succeeded', 1, 0, 0, 1, array_fill(1, array[15]), 1, array_fill(1, array[15])
         from generate_series(1, 3000) as n, unnest('{part,minute,hour}'::text[]) as step;
         analyze;`,
      )
      return () => database.close()
    })

    /** How many rows of the large tables a prepared statement reads. It must read them by an index. */
    async function readsOf<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
      for (let time = 0; time < 6; time += 1) await database.run(statement, params)
      const nodes = (await executedPlan(database, statement, params)).filter(({ isExecuted }) => isExecuted)
      const onTables = nodes.filter(({ table }) => table !== undefined && TABLES.includes(table))
      expect(onTables.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      return onTables.reduce((sum, { rows }) => sum + rows, 0)
    }

    it("counts the runs of a pool up to a cap, lane by lane, and says that there may be more", async () => {
      const most = 100
      // Six lanes and the waiting runs up to the cap, 40 parked ones, and a few steps from lane to lane.
      expect(await readsOf(readPools, { name: null, most })).toBeLessThan(7 * most + 40 + 30)
      const [first, second] = await database.run(readPools, { name: null, most })
      expect(first).toMatchObject({ name: "pool 0", waiting: 100, ready: 190, running: 10, capped: true })
      expect(second).toMatchObject({ name: "pool 1", waiting: 0, parked: 40, ready: 190, capped: true })
    })

    it("counts all that there are below the cap", async () => {
      const pools = await database.run(readPools, { name: null, most: 10_000 })
      expect(pools).toMatchObject([
        { name: "pool 0", waiting: 6_000, parked: 0, ready: 1_990, running: 10, capped: false },
        { name: "pool 1", waiting: 0, parked: 40, ready: 1_990, running: 10, capped: false },
        { name: "pool 2", waiting: 0, parked: 0, ready: 1_990, running: 10, capped: false },
      ])
    })

    it("reads a series by its span, whatever else is stored", async () => {
      const [now] = await rowsOf(database, "select date_trunc('hour', now()) as at")
      const to = Date.parse(String(now?.["at"]))
      const nothing = { jobs: null, pools: null, tenants: null, outcomes: null }
      const by = { byJob: true, byPool: false, byTenant: false, byOutcome: false }
      const span = { from: to - 600_000, to, stepMs: 60_000, stored: ["part", "minute"], limit: 1_000 }
      expect(await readsOf(statsSeries, { ...nothing, ...by, ...span })).toBe(20)
    })

    const PAGE = {
      ...{ at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff", from: "-infinity", to: "infinity" },
      limit: 10,
    }

    it.each([
      ["all", () => readsOf(listAudit, PAGE)],
      [
        "a subject",
        () => readsOf(listAuditBySubject, { ...PAGE, subject: "subject 7", actor: null, action: null }),
      ],
      ["an actor", () => readsOf(listAuditByActor, { ...PAGE, actor: "actor 7", action: null })],
      ["an action", () => readsOf(listAuditByAction, { ...PAGE, action: "action 7" })],
    ])("reads a page of the audit of %s and nothing beside it", async (_, reads) => {
      expect(await reads()).toBe(10)
    })

    it("rolls up a bounded number of parts by the index", async () => {
      await readsOf(rollUpStats, { ...storedSteps(""), tenants: 100, afterMs: 3_600_000, limit: 50 })
      const left = await rowsOf(
        database,
        "select count(*)::int as n, sum(ends)::int as ends from {stats} where step <> 'hour'",
      )
      // Seven calls took 50 parts each. Each was a minute of its own, so the number of rows stays.
      expect(left).toEqual([{ n: 6_000, ends: 6_000 }])
    })

    it("adds nothing when a write whose answer was lost is repeated", async () => {
      const entry = emptyEntry({ job: "once", pool: "default", tenant: null, outcome: "failed" })
      const write = { part: host.newId(), agoMs: 0, entries: [JSON.stringify({ ...entry, ends: 3 })] }
      await database.run(appendStats, write)
      await database.run(appendStats, { ...write, agoMs: 120_000 })
      const found = await rowsOf(
        database,
        "select sum(ends)::int as ends from {stats} where job = 'once' and step = 'part'",
      )
      expect(found).toEqual([{ ends: 3 }])
    })
  },
  SERVERS,
)
