/** Runs that their own insert started: like any other run, never lost and never executed twice. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Bury, defineJob, type JobContext } from "../../src/index.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"
import { sessionEnded } from "../support/watched-database.ts"

const { signal } = new AbortController()

describeEngines(
  "a run that was started by its insert",
  (engine) => {
    /** A process that has looked through its pool and found nothing. */
    async function idle(job: AnyJob) {
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await stage.tick()
      return stage
    }

    it("is like any other run: its options, its attempts, its end", async () => {
      const contexts: JobContext[] = []
      const job = defineJob({
        name: "any",
        retry: { attempts: 9, delay: "1h" },
        run: async (_: null, ctx) => {
          contexts.push(ctx)
          if (ctx.attempt === 2) return Bury("after the first")
          throw new Error("again")
        },
      })
      const stage = await idle(job)
      const options = { tenant: "acme", tags: ["t"], retry: { attempts: 3, delay: 0 } }
      const [id = ""] = await stage.enqueue(job, 1, options)
      expect(contexts).toHaveLength(1)
      expect(stage.database.count("runs/claim")).toBe(0)
      await stage.settled()
      await stage.engine.promoter.tick(signal)
      await stage.engine.promoter.swept()
      await stage.tick()
      await stage.settled()
      const [first, second] = contexts
      expect(first).toMatchObject({ runId: id, tenant: "acme", tags: ["t"], attempt: 1, fencingToken: 1 })
      expect(second).toMatchObject({ runId: id, tenant: "acme", tags: ["t"], attempt: 2, fencingToken: 2 })
      expect(first?.due.getTime()).toBeGreaterThan(0)
      const attempts = "select outcome, tenant, run_state from {attempts} order by finished_at"
      expect(await rowsOf(stage.database, attempts)).toEqual([
        { outcome: "failed", tenant: "acme", run_state: null },
        { outcome: "failed", tenant: "acme", run_state: "dead" },
      ])
    })

    it("and whose answer was lost is given back, executed once, and enqueued once", async () => {
      let executed = 0
      const job = defineJob({
        name: "once",
        run: async () => {
          executed += 1
          return "done"
        },
      })
      const stage = await idle(job)
      stage.database.meddle("runs/hand-off", async (insert) => {
        await insert()
        return sessionEnded(insert)
      })
      const [id] = await stage.enqueue(job)
      for (let ticks = 0; ticks < 3; ticks += 1) {
        stage.worker.wake(undefined)
        await stage.tick()
        await stage.settled()
      }
      expect(executed).toBe(1)
      const attempts = "select run, outcome, charged from {attempts} order by run, finished_at"
      expect(await rowsOf(stage.database, attempts)).toEqual([
        { run: id, outcome: "released", charged: false },
        { run: id, outcome: "succeeded", charged: true },
      ])
      expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
    })
  },
  ["PGlite"],
)

describe("a run that was started by its insert", () => {
  it("in a process that runs by itself needs no claim and no wake-up", async () => {
    const job = defineJob({ name: "plain", run: async () => "done" })
    const { carillon, database } = carillonOn(SERVER_URLS.postgres18, { jobs: [job] })
    onTestFinished(() => carillon.stop())
    await carillon.start()
    const looks = () => database.count("runs/look")
    let before = 0
    /** The pool has looked around more than once, and does not look now. */
    const isIdle = () => {
      const isSame = looks() === before
      before = looks()
      return isSame && before > 1
    }
    await vi.waitUntil(isIdle, { timeout: 20_000, interval: 200 })
    const run = await carillon.enqueue(job)
    expect(await run.result()).toBe("done")
    expect(database.count("runs/claim")).toBe(0)
    expect(database.count("wakeups/notify")).toBe(0)
  })
})
