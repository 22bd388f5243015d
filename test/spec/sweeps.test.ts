/** What claims have passed is looked through beside them, however long that takes. */
import { expect, it } from "vitest"
import { type AnyJob, defineJob } from "../../src/job/define.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { busy } from "../support/watched-database.ts"

describeEngines(
  "while what was passed is swept",
  (engine) => {
    /** A worker that has passed a run, and whose next sweep answers when it is told to. */
    async function stageOf(options: { readonly slots?: number } = {}) {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const on = await engine.migrated()
      const stage = await openEngineStage(on, { jobs: [job], pools: { default: options.slots ?? 10 } })
      await stage.enqueue(job, 1)
      await stage.tick()
      await stage.settled()
      await stage.tick()
      return { job, stage, ...(await addBelow(stage)) }
    }

    async function addBelow(stage: EngineStage) {
      const below = stage.runtime.newId()
      await execute(
        stage.database,
        `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
         values ('${below}', 'plain', 'default', 0, 1, 'queued', {now}, {now}, '{}')`,
      )
      return { below }
    }

    /** Begins a sweep and returns when it is under way, with what lets it go on. */
    async function beginSweep(stage: EngineStage) {
      let goOn = () => {}
      const isHeld = new Promise<void>((resolve) => {
        goOn = resolve
      })
      const isUnderWay = new Promise<void>((resolve) => {
        // The claim, the one after the look, and the sweep.
        for (const _ of [1, 2]) stage.database.meddle("runs/claim", (run) => run())
        stage.database.meddle("runs/claim", async (run) => {
          resolve()
          await isHeld
          return run()
        })
      })
      stage.pass(60_000)
      const ticked = stage.tick()
      await isUnderWay
      return async () => {
        goOn()
        await ticked
      }
    }

    it("runs that become ready start, and what it finds starts when it is found", async () => {
      const { job, stage, below } = await stageOf()
      const end = await beginSweep(stage)
      const [id] = await stage.enqueue(job)
      await stage.worker.tick(new AbortController().signal)
      expect(stage.started()).toContain(id)
      expect(stage.started()).not.toContain(below)
      await end()
      expect(stage.started()).toContain(below)
      await stage.settled()
      expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
    })

    it("no second sweep begins", async () => {
      const { stage } = await stageOf()
      const end = await beginSweep(stage)
      const before = stage.database.count("runs/claim")
      stage.pass(120_000)
      stage.worker.wake(undefined)
      await stage.worker.tick(new AbortController().signal)
      // A claim, and another after a look.
      expect(stage.database.count("runs/claim") - before).toBe(2)
      await end()
      await stage.settled()
    })

    it("what may have been missed meanwhile is looked for when it has ended", async () => {
      const { stage } = await stageOf()
      await (await beginSweep(stage))()
      await stage.settled()
      await stage.tick()
      const end = await beginSweep(stage)
      stage.worker.wake(undefined)
      await stage.worker.tick(new AbortController().signal)
      await stage.isRung()
      await end()
      expect(await stage.isRung()).toBe(true)
      const { below } = await addBelow(stage)
      await stage.tick()
      expect(stage.started()).toContain(below)
      await stage.settled()
      await stage.tick()
      // Who found nothing has nothing to say.
      await stage.isRung()
      stage.pass(60_000)
      await stage.tick()
      expect(await stage.isRung()).toBe(false)
    })

    it("a stop waits for it, and gives back what it brings", async () => {
      const { stage, below } = await stageOf()
      const end = await beginSweep(stage)
      const stopped = stage.engine.stop(1_000)
      await end()
      await stopped
      expect(stage.started()).not.toContain(below)
      const [run] = await rowsOf(stage.database, "select id, lease, attempt from {runs}")
      expect(run).toEqual({ id: below, lease: null, attempt: 0 })
    })
  },
  ["PGlite"],
)

describeEngines(
  "a sweep that fails",
  (engine) => {
    it("fails the tick after it, so that somebody hears of it, and is repeated", async () => {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await stage.enqueue(job, 1)
      await stage.tick()
      await stage.settled()
      await stage.tick()
      stage.pass(60_000)
      for (const _ of [1, 2]) stage.database.meddle("runs/claim", (run) => run())
      stage.database.meddle("runs/claim", busy)
      await stage.tick()
      await expect(stage.tick()).rejects.toThrow("the test refused it")
      stage.pass(60_000)
      const before = stage.database.count("runs/claim")
      await stage.tick()
      expect(stage.database.count("runs/claim") - before).toBe(3)
    })
  },
  ["PGlite"],
)
