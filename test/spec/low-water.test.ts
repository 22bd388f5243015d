/** Where a claimer begins: behind the runs of others, and never long above a run that it could have had. */
import { describe, expect, it } from "vitest"
import { createClaimLedger } from "../../src/engine/queue/claim-ledger.ts"
import { type ClaimRequest, createClaimer } from "../../src/engine/queue/claimer.ts"
import { defineJob } from "../../src/index.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { describeEngines, type Engine } from "../support/engines.ts"
import { claim, host, insert, openLease } from "../support/runs.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { watchDatabase } from "../support/watched-database.ts"

const job = defineJob({ name: "greet", run: async () => {} }) as AnyJob
const WANTED: ClaimRequest = { limit: 10, free: 0, except: [] }

/** A claimer of a pool in which other workers run everything. */
async function stageOn(engine: Engine, { knowsLane } = { knowsLane: true }) {
  const database = watchDatabase((await engine.migrated()).database)
  const time = { ms: 0 }
  const mine = { id: await openLease(database), remainingMs: 60_000 }
  const lease = { id: () => mine.id, remainingMs: () => mine.remainingMs }
  const ledger = createClaimLedger()
  const newClaimer = (...jobs: string[]) =>
    createClaimer({
      runtime: { ...host, database, monotonicMs: () => time.ms, crashPoint: async () => {} } as never,
      pool: "default",
      jobs: new Map(jobs.map((name) => [name, job])),
      lease: lease as never,
      claims: ledger,
      doubts: { add: () => {}, resolve: async () => {} },
    })
  const claimer = newClaimer("greet")
  await insert(database, ...Array(20).fill({}))
  await claim(database, await openLease(database), { limit: 20 })
  if (knowsLane) claimer.wake({ pool: "default", solo: false, priority: 0, rank: 1n })
  /** A run that appears at the bottom without a wake-up. A claim that starts at its mark does not see it. */
  const addAtTheBottom = (rank = 1) =>
    execute(
      database,
      `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
       values ('${host.newId()}', 'greet', 'default', 0, ${rank}, 'queued', {now}, {now}, '{}')`,
    )
  /** Claims until nothing is left but passed runs. */
  const goThrough = async (by = claimer) => {
    await by.claim(WANTED)
    await by.search(WANTED)
  }
  const found = async (by = claimer) => (await by.claim(WANTED)).runs.length
  const swept = async (by = claimer) => (await by.sweep(WANTED)).runs.length
  return { claimer, newClaimer, database, ledger, mine, time, addAtTheBottom, goThrough, found, swept }
}

type Stage = Awaited<ReturnType<typeof stageOn>>

// Alone: with open transactions of other tests the marks stay behind, and that has tests of its own.
describeEngines(
  "the low-water mark",
  (engine) => {
    describe("a claimer that has found nothing", () => {
      it("continues behind the runs of others, and finds by a sweep what it has passed", async () => {
        const { claimer, addAtTheBottom, goThrough, found } = await stageOn(engine)
        await goThrough()
        expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: true })
        await addAtTheBottom()
        expect(await found()).toBe(0)
        expect(await claimer.sweep(WANTED)).toMatchObject({
          runs: [{ job: { name: "greet" } }],
          isEmpty: false,
        })
        expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: true })
      })

      it.each<[string, (parts: Stage) => Promise<unknown>]>([
        [
          "its lease was lost meanwhile",
          async ({ mine, database, claimer }) => {
            database.meddle("runs/claim", async (run) => {
              const rows = await run()
              mine.id = await openLease(database)
              return rows
            })
            return claimer.claim(WANTED)
          },
        ],
        [
          "its lease was over",
          async ({ mine, claimer }) => {
            mine.remainingMs = 0
            return claimer.claim(WANTED)
          },
        ],
        [
          "it was told meanwhile that something may have been missed",
          async ({ database, claimer }) => {
            database.meddle("runs/claim", async (run) => {
              claimer.wake(undefined)
              return run()
            })
            return claimer.claim(WANTED)
          },
        ],
        [
          "some of it may be claimed only later",
          async ({ claimer }) => claimer.claim({ ...WANTED, except: [host.newId()] }),
        ],
      ])("passes nothing if %s", async (_, lookThrough) => {
        const parts = await stageOn(engine)
        await parts.claimer.search({ ...WANTED, limit: 0 })
        await lookThrough(parts)
        await parts.addAtTheBottom()
        expect(await parts.found()).toBe(1)
      })
    })

    it("goes back when its lease was over in the database and is live again", async () => {
      const { claimer, database, goThrough, addAtTheBottom, swept } = await stageOn(engine)
      await goThrough()
      await swept()
      // As when its clock jumps, until the next renewal.
      const expire = (when: string) =>
        execute(database, `update {workers} set expires_at = {now} + '${when}'`)
      await expire("-1 second")
      await addAtTheBottom()
      await goThrough()
      expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: false })
      expect(claimer.isSweepDue(false)).toBe(false)
      await expire("1 minute")
      await goThrough()
      expect(claimer.isSweepDue(false)).toBe(true)
      expect(await swept()).toBe(1)
    })

    describe("a sweep", () => {
      it("is due at once when runs may have been missed, else after a rest, longer in a busy pool", async () => {
        const { claimer, time, goThrough } = await stageOn(engine)
        const isDue = () => [claimer.isSweepDue(false), claimer.isSweepDue(true)]
        expect(isDue()).toEqual([true, true])
        await goThrough()
        await claimer.sweep(WANTED)
        expect(isDue()).toEqual([false, false])
        time.ms += 200
        expect(isDue()).toEqual([false, true])
        claimer.wake(undefined)
        expect(isDue()).toEqual([true, true])
        await goThrough()
        await claimer.sweep(WANTED)
        time.ms += 60_000
        expect(isDue()).toEqual([true, true])
      })

      it("that took long is repeated after fifty times as long, and none is due while one runs", async () => {
        const { claimer, database, time, goThrough } = await stageOn(engine)
        await goThrough()
        database.meddle("runs/claim", async (run) => {
          time.ms += 1_000
          expect(claimer.isSweepDue(true)).toBe(false)
          return run()
        })
        await claimer.sweep(WANTED)
        time.ms += 49_999
        expect(claimer.isSweepDue(true)).toBe(false)
        time.ms += 1
        expect(claimer.isSweepDue(true)).toBe(true)
      })

      it("does not clear a warning of missed runs that arrived after it began", async () => {
        const { claimer, database, goThrough } = await stageOn(engine)
        await goThrough()
        database.meddle("runs/claim", async (run) => {
          const rows = await run()
          claimer.wake(undefined)
          return rows
        })
        expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: false })
        expect(claimer.isSweepDue(false)).toBe(true)
        // A lane that the claimer does not know was not swept.
        expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: false })
        await claimer.search(WANTED)
        expect(await claimer.sweep(WANTED)).toEqual({ runs: [], isEmpty: true })
      })

      it("that finds more than it may take leaves the rest to the next claims", async () => {
        const { claimer, addAtTheBottom, goThrough, found } = await stageOn(engine)
        await goThrough()
        for (const rank of [1, 2, 3]) await addAtTheBottom(rank)
        expect((await claimer.sweep({ ...WANTED, limit: 1 })).runs).toHaveLength(1)
        expect(await found()).toBe(2)
      })
    })

    describe("a claimer that starts", () => {
      /** A claimer that has taken and passed a run records its low-water mark. */
      async function lowWaterOf(parts: Stage, ...jobs: string[]) {
        const first = parts.newClaimer(...jobs)
        await insert(parts.database, {})
        await parts.goThrough(first)
        await parts.goThrough(first)
        await parts.goThrough(first)
        await first.recordLowWater()
      }

      it("begins at the last recorded mark, and finds by a sweep what is below", async () => {
        const parts = await stageOn(engine, { knowsLane: false })
        await lowWaterOf(parts, "greet")
        await parts.addAtTheBottom()
        const second = parts.newClaimer("greet")
        expect(await parts.found(second)).toBe(0)
        // Not at once if it is busy.
        expect([second.isSweepDue(false), second.isSweepDue(true)]).toEqual([false, true])
        expect(await parts.swept(second)).toBe(1)
      })

      it("begins at the bottom where no mark is recorded", async () => {
        const { newClaimer, addAtTheBottom, found, claimer } = await stageOn(engine)
        await claimer.recordLowWater()
        await addAtTheBottom()
        expect(await found(newClaimer("greet"))).toBe(1)
      })

      it.each([
        ["fewer jobs than the last one", ["greet", "part"], ["greet"], 0],
        ["the same jobs, in another order", ["part", "greet"], ["greet", "part"], 0],
        ["jobs that the last one did not know", ["greet"], ["greet", "part"], 1],
      ])("and knows %s", async (_, jobsOfFirst, jobsOfSecond, count) => {
        const parts = await stageOn(engine, { knowsLane: false })
        await lowWaterOf(parts, ...jobsOfFirst)
        await parts.addAtTheBottom()
        expect(await parts.found(parts.newClaimer(...jobsOfSecond))).toBe(count)
      })

      it("ignores a mark from the future", async () => {
        const parts = await stageOn(engine, { knowsLane: false })
        await lowWaterOf(parts, "greet")
        const future = "9000000000000000000"
        await execute(parts.database, `update {low_water} set ranks = array[${future}], clock = ${future}`)
        await insert(parts.database, {})
        expect(await parts.found(parts.newClaimer("greet"))).toBe(1)
      })
    })

    describe("the low-water mark of a claimer", () => {
      it("is recorded after many runs, at most every five seconds, and at the end", async () => {
        const { claimer, database, time } = await stageOn(engine, { knowsLane: false })
        const recorded = () => database.count("low-water/record")
        const takeMany = async (count: number) => {
          await insert(database, ...Array(count).fill({}))
          expect((await claimer.claim({ ...WANTED, limit: count })).runs).toHaveLength(count)
          // A transaction that is open at one look may hold the mark back until the next look.
          for (const _ of [1, 2, 3]) await claimer.search(WANTED)
        }
        await claimer.recordLowWater()
        expect(recorded()).toBe(0)
        await takeMany(999)
        expect(claimer.isLowWaterDue()).toBe(false)
        await takeMany(1)
        expect(claimer.isLowWaterDue()).toBe(true)
        await claimer.recordLowWater()
        await takeMany(1_000)
        expect(claimer.isLowWaterDue()).toBe(false)
        time.ms += 5_000
        expect(claimer.isLowWaterDue()).toBe(true)
        await claimer.recordLowWater()
        expect(recorded()).toBe(2)
        await takeMany(1)
        expect(claimer.isLowWaterDue()).toBe(false)
        await claimer.recordLowWater()
        await claimer.recordLowWater()
        expect(recorded()).toBe(3)
        expect(await rowsOf(database, "select pool, jobs from {low_water}")).toEqual([
          { pool: "default", jobs: ["greet"] },
        ])
      })
    })

    it("a claimer removes the notes of ended claims when there are many of them", async () => {
      const { claimer, database, ledger, mine } = await stageOn(engine, { knowsLane: false })
      await execute(
        database,
        `insert into {claims} select '${mine.id}', n, array[gen_random_uuid()] from generate_series(1, 100) as n`,
      )
      for (let claim = 1n; claim <= 100n; claim += 1n) {
        // A few are not worth a statement.
        await claimer.forgetEnded()
        expect(database.count("claims/forget-ended")).toBe(0)
        ledger.open({ lease: mine.id, claim }, 1)
        ledger.end({ lease: mine.id, claim })
      }
      await claimer.forgetEnded()
      expect(await rowsOf(database, `select from {claims} where lease = '${mine.id}'`)).toEqual([])
    })
  },
  ["PGlite"],
)
