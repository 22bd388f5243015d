/** How the statements of the scheduler find their rows among very many schedules. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { FIRST_MS } from "../../src/engine/schedules/due-floor.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { makeFirePartitionsInTurn } from "../../src/store/fires/partitions.ts"
import { migrate } from "../../src/store/migrate.ts"
import { dueSchedules } from "../../src/store/schedules/due.ts"
import { nextDueSchedule } from "../../src/store/schedules/next-due.ts"
import { outdatedSchedules } from "../../src/store/schedules/outdated.ts"
import { raiseZoneData } from "../../src/store/schedules/raise-zone-data.ts"
import { takeSchedules } from "../../src/store/schedules/take.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const host = createSystemHost()
const BATCH = 100
/** After five executions PostgreSQL may keep a plan for good. */
const TIMES = 7
const [OLD, NEW] = ["2025a", "2026b"]
const DAY_MS = 86_400_000

describeEngines(
  "a statement of the scheduler that was prepared on an empty table, then met 60,000 schedules,",
  (engine) => {
    let database: Database
    /** With a connection of its own. */
    let other: Database
    const due = (zoneData: string) => ({ zoneData, from: FIRST_MS, skip: 0, limit: BATCH, mostLive: BATCH })
    const take = (ids: readonly string[]) => ({
      ids,
      cursors: ids.map(() => Date.parse("2026-01-01T00:00Z")),
      versions: ids.map(() => 1),
      zoneData: NEW,
      plansAnew: false,
    })

    beforeAll(async () => {
      const place = { url: engine.url(), schema: newSchema(host), workConnections: 1 }
      database = openServer(host, place)
      other = openServer(host, place)
      await migrate({ ...host, database })
      await database.run(raiseZoneData, { zoneData: NEW })
      await execute(database, "alter table {schedules} set (autovacuum_enabled = off)")
      for (let time = 0; time < TIMES; time += 1) {
        await database.run(nextDueSchedule, { zoneData: NEW, from: FIRST_MS })
        await database.run(dueSchedules, due(NEW))
        await database.run(outdatedSchedules, { zoneData: NEW, limit: BATCH })
        await database.run(takeSchedules, take([host.newId()]))
      }
      // All schedules with zones are due, by the newest data and by older; of the others one in a hundred is.
      await execute(
        database,
        `insert into {schedules} (id, name, job, spec, input, settings, state, cursor, next_occurrence, next_at,
            created_at, changed_at, tzdb)
          select gen_random_uuid(), 'schedule ' || n || coalesce(tzdb, ''), 'greet', '{}', '1', '{}', 'active',
            '2026-01-01T00:00Z', due, due,
            now(), now(), tzdb
          from generate_series(1, 20000) as n
          cross join lateral (values
            ('${NEW}', now() - n * interval '1 s'),
            ('${OLD}', now() - n * interval '1 s'),
            (null, now() + (n - 200) * interval '1 s')
          ) as kind (tzdb, due)`,
      )
    }, 120_000)

    afterAll(async () => {
      await database.close()
      await other.close()
    })

    /** How many schedules it reads, in all places. */
    async function readsOf<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
      const nodes = await executedPlan(database, statement, params)
      const scans = nodes.filter(({ table, isExecuted }) => table === "schedules" && isExecuted)
      expect(scans.length).toBeGreaterThan(0)
      expect(scans.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      return scans.reduce((sum, { rows }) => sum + rows, 0)
    }

    async function editionsOf(found: readonly { readonly id: string }[]): Promise<unknown[]> {
      const ids = found.map(({ id }) => `'${id}'`)
      const rows = await rowsOf(database, `select distinct tzdb from {schedules} where id in (${ids})`)
      return rows.map(({ tzdb }) => tzdb)
    }

    it.each([NEW, OLD, "2099a"])("reads one of each kind to find the next (%s)", async (zoneData) => {
      expect(await readsOf(nextDueSchedule, { zoneData, from: FIRST_MS })).toBeLessThanOrEqual(4)
    })

    it.each([NEW, OLD])("reads no more of each kind than it may take (%s)", async (zoneData) => {
      expect(await readsOf(dueSchedules, due(zoneData))).toBeLessThanOrEqual(2 * BATCH)
      const found = await database.run(dueSchedules, due(zoneData))
      expect(found).toHaveLength(BATCH)
      expect(await editionsOf(found)).toEqual([zoneData === NEW ? NEW : null])
    })

    it("reads no more than it may plan anew", async () => {
      expect(await readsOf(outdatedSchedules, { zoneData: NEW, limit: BATCH })).toBeLessThanOrEqual(BATCH)
      expect(await database.run(outdatedSchedules, { zoneData: OLD, limit: BATCH })).toEqual([])
    })

    it("reads only those that it takes", async () => {
      const some = async (which: string) =>
        (await rowsOf(database, `select id from {schedules} where tzdb ${which} limit ${BATCH}`)).map(
          ({ id }) => String(id),
        )
      const taken = async (which: string, over: object) =>
        (await database.run(takeSchedules, { ...take(await some(which)), ...over })).length
      expect(await readsOf(takeSchedules, take(await some(`= '${NEW}'`)))).toBeLessThanOrEqual(BATCH)
      const [ours, others, none] = [`= '${NEW}'`, `= '${OLD}'`, "is null"]
      for (const [which, due, anew] of [
        [ours, BATCH, 0],
        [others, 0, BATCH],
        [none, BATCH, 0],
      ] as const) {
        expect(await taken(which, { plansAnew: false })).toBe(due)
        expect(await taken(which, { plansAnew: true })).toBe(anew)
        for (const zoneData of [OLD, "2099a"]) {
          expect(await taken(which, { zoneData, plansAnew: true })).toBe(0)
          expect(await taken(which, { zoneData, plansAnew: false })).toBe(which === none ? BATCH : 0)
        }
      }
    })

    it("reads the ledger only of edited schedules, from their cursor on", async () => {
      await makeFirePartitionsInTurn(database, [Date.parse("2025-11-15T00:00Z")])
      const months = async () =>
        (await executedPlan(database, dueSchedules, due(NEW)))
          .filter(({ table, isExecuted }) => table?.startsWith("fires") && isExecuted)
          .map(({ type, table }) => `${type} ${table}`)
      expect(await months()).toEqual([])
      await execute(database, `update {schedules} set version = 2 where tzdb = '${NEW}'`)
      const looked = await months()
      expect(looked.length).toBeGreaterThan(0)
      expect(looked.filter((each) => /Seq Scan|202511/.test(each))).toEqual([])
    })

    it("walks over no dead row under an old snapshot, if it begins behind them", async () => {
      const snapshot = await hold(
        other,
        "set transaction isolation level repeatable read; select count(*) from {schedules}",
      )
      await execute(
        database,
        `update {schedules} set next_at = next_at + interval '1 day' where tzdb is distinct from '${OLD}'`,
      )
      const pagesOf = async <P, R>(statement: Statement<P, R>, params: P) =>
        (await executedPlan(database, statement, params))[0]?.pages ?? Number.NaN
      const [next] = await database.run(nextDueSchedule, { zoneData: NEW, from: FIRST_MS })
      const from = (next?.first_at ?? 0) + DAY_MS / 2
      for (const [begin, isCheap] of [
        [FIRST_MS, false],
        [from, true],
      ] as const) {
        const pages = [
          await pagesOf(nextDueSchedule, { zoneData: NEW, from: begin }),
          await pagesOf(dueSchedules, { ...due(NEW), from: begin }),
        ]
        expect(pages.map((each) => each < 100)).toEqual([isCheap, isCheap])
      }
      await snapshot.release()
    })
  },
  SERVERS,
)
