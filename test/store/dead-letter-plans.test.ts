/** Dead letters are read by indexes, however many there are, also by statements that were prepared without any. */
import { beforeAll, expect, it } from "vitest"
import { readFilter } from "../../src/filter/object.ts"
import { readingOf } from "../../src/operations/runs/reading.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { findByGroup } from "../../src/store/dead-letters/find-by-group.ts"
import { findByJob } from "../../src/store/dead-letters/find-by-job.ts"
import { findByTenant } from "../../src/store/dead-letters/find-by-tenant.ts"
import { findNewest } from "../../src/store/dead-letters/find-newest.ts"
import { readGroup } from "../../src/store/dead-letters/group.ts"
import { listGroups } from "../../src/store/dead-letters/groups.ts"
import { migrate } from "../../src/store/migrate.ts"
import { openServer } from "../../src/store/server/server.ts"
import type { Statement } from "../../src/store/statement.ts"
import { describeEngines, newSchema, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { execute } from "../support/sql.ts"

const host = createSystemHost()
const LETTERS = 100_000
/** What is asked for by a filter, beside what the index leads by. */
const { params } = readingOf(readFilter("state:dead -error:E_NONE"), 0)
const TOP = {
  ...params,
  at: "infinity",
  run: "ffffffff-ffff-ffff-ffff-ffffffffffff",
  budget: 100_000n,
  limit: 10,
}
const ALL = { most: 100, afterJob: "", afterFingerprint: "", job: null, limit: 50 }

describeEngines(
  "with 100,000 dead letters in 12 groups",
  (engine) => {
    let database: Database

    beforeAll(async () => {
      database = openServer(host, { url: engine.url(), schema: newSchema(host), workConnections: 1 })
      await migrate({ ...host, database })
      // After five executions PostgreSQL may keep a plan for good.
      for (let time = 0; time < 7; time += 1) {
        await database.run(findNewest, TOP)
        await database.run(findByJob, { ...TOP, job: "job 1" })
        await database.run(findByGroup, { ...TOP, job: "job 1", fingerprint: "error 1" })
        await database.run(findByTenant, { ...TOP, tenant: "t1" })
        await database.run(listGroups, ALL)
        await database.run(readGroup, { most: 100, job: "job 1", fingerprint: "error 1" })
      }
      await execute(
        database,
        `insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input, fingerprint,
           tenant, version)
         select gen_random_uuid(), 'job ' || n % 3, 'default', 0, 1, now(), now() - n * interval '1 second', '1',
           'error ' || n % 4, 't' || n % 7, '1.0'
         from generate_series(1, ${LETTERS}) as n`,
      )
      return () => database.close()
    })

    /** How many letters an execution read. Never by a sequential scan. */
    async function readOf<P, R>(statement: Statement<P, R>, params: P): Promise<number> {
      const nodes = await executedPlan(database, statement, params)
      const onLetters = nodes.filter(({ table }) => table === "dead_letters")
      expect(onLetters.length).toBeGreaterThan(0)
      expect(onLetters.filter(({ type }) => /Seq Scan|Bitmap/.test(type))).toEqual([])
      return onLetters.reduce((sum, { rows }) => sum + rows, 0)
    }

    it.each([
      ["all", () => readOf(findNewest, TOP)],
      ["a job", () => readOf(findByJob, { ...TOP, job: "job 1" })],
      ["a group", () => readOf(findByGroup, { ...TOP, job: "job 1", fingerprint: "error 1" })],
      ["a tenant", () => readOf(findByTenant, { ...TOP, tenant: "t1" })],
    ])("reads little more than a page of %s", async (_, read) => {
      // Letters that died at the same moment are sorted by their ids, 32 at a time.
      expect(await read()).toBeLessThan(TOP.limit + 32)
    })

    it("steps from group to group, and reads of each no more than it counts and looks at", async () => {
      const groups = await database.run(listGroups, ALL)
      expect(groups.map(({ job, fingerprint }) => `${job} ${fingerprint}`)).toEqual(
        [0, 1, 2].flatMap((job) => [0, 1, 2, 3].map((error) => `job ${job} error ${error}`)),
      )
      expect(groups.every(({ count, capped }) => count === 100 && capped)).toBe(true)
      // One step, the first, the last, 101 that are counted, and 1,000 whose tenants are told.
      expect(await readOf(listGroups, ALL)).toBeLessThan(12 * 1_110)
      expect(await readOf(readGroup, { most: 100, job: "job 1", fingerprint: "error 1" })).toBeLessThan(1_110)
    })

    it("ends the steps with the groups of the job that was asked for", async () => {
      const ofJob = { ...ALL, job: "job 1", afterJob: "job 1" }
      expect((await database.run(listGroups, ofJob)).map(({ job }) => job)).toEqual(Array(4).fill("job 1"))
      expect(await readOf(listGroups, ofJob)).toBeLessThan(4 * 1_110)
    })

    it("counts a group to the end if it is asked to", async () => {
      const [group] = await database.run(readGroup, { most: LETTERS, job: "job 1", fingerprint: "error 1" })
      expect(group).toMatchObject({ capped: false })
      expect(Math.abs((group?.count ?? 0) - LETTERS / 12)).toBeLessThan(2)
    })
  },
  SERVERS,
)
