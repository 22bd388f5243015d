/** Sweeps look through what claims have passed, beside the claims, however long that takes. */
import { expect, it, vi } from "vitest"
import { type AnyJob, defineJob } from "../../src/job/define.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { answerLost, busy, type Meddling, requestLost } from "../support/watched-database.ts"

const PATIENCE = { interval: 1, timeout: 20_000 }
/** How long a worker rests that may start nothing. */
const HELD_UP_MS = 50

interface Lane {
  readonly priority: number
  readonly solo: boolean
}

/** A run that appears without a wake-up, below where every claim begins. */
async function addBelow({ runtime, database }: EngineStage, lane: Lane = { priority: 0, solo: false }) {
  const id = runtime.newId()
  await execute(
    database,
    `insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, solo)
     values ('${id}', 'plain', 'default', ${lane.priority}, 1, 'queued', {now}, {now}, '{}', ${lane.solo})`,
  )
  return id
}

describeEngines(
  "while a sweep runs",
  (engine) => {
    /** A worker that has passed a run, and whose next sweep answers when the test says so. */
    async function stageOf() {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const on = await engine.migrated()
      const stage = await openEngineStage(on, { jobs: [job], pools: { default: 10 } })
      await stage.enqueue(job, 1)
      await stage.tick()
      await stage.settled()
      await stage.tick()
      return { job, stage, below: await addBelow(stage) }
    }

    /** Starts a sweep and returns once it runs, with the function that lets it go on. */
    async function beginSweep(stage: EngineStage, meddling: Meddling = (run) => run()) {
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
          return meddling(run)
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

    it("runs that become ready start, and the run it finds starts when it is found", async () => {
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

    /** How many claims a tick makes: one, another after a look, and a sweep if one is due. */
    async function claimsOfTick(stage: EngineStage) {
      const before = stage.database.count("runs/claim")
      await stage.tick().catch(() => {})
      return stage.database.count("runs/claim") - before
    }

    it.each<[string, Meddling]>([
      ["is through", (run) => run()],
      ["fails", busy],
    ])("the next waits for fifty times as long as it took, also if it %s", async (_, meddling) => {
      const { stage } = await stageOf()
      await (await beginSweep(stage))()
      await stage.settled()
      const end = await beginSweep(stage, meddling)
      stage.pass(2_000)
      await end().catch(() => {})
      await claimsOfTick(stage)
      stage.pass(98_000)
      expect(await claimsOfTick(stage)).toBe(2)
      stage.pass(2_000)
      expect(await claimsOfTick(stage)).toBe(3)
      await stage.settled()
    })

    it("the next waits for ten minutes at most, however long it took", async () => {
      const { stage } = await stageOf()
      await (await beginSweep(stage))()
      await stage.settled()
      const end = await beginSweep(stage)
      stage.pass(60_000)
      await end()
      await claimsOfTick(stage)
      stage.pass(599_000)
      expect(await claimsOfTick(stage)).toBe(2)
      stage.pass(1_000)
      expect(await claimsOfTick(stage)).toBe(3)
      await stage.settled()
    })

    it("the next waits for a minute at most if it has found as many as it may", async () => {
      const { stage } = await stageOf()
      for (let more = 0; more < 10; more += 1) await addBelow(stage)
      const end = await beginSweep(stage)
      stage.pass(2_000)
      await end()
      await stage.settled()
      await claimsOfTick(stage)
      await stage.settled()
      stage.pass(58_000)
      expect(await claimsOfTick(stage)).toBe(2)
      stage.pass(2_000)
      expect(await claimsOfTick(stage)).toBe(3)
      await stage.settled()
    })

    it("runs that may have been missed meanwhile are looked for when it has ended", async () => {
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
      const below = await addBelow(stage)
      await stage.tick()
      expect(stage.started()).toContain(below)
      await stage.settled()
      await stage.tick()
      // A worker that found nothing has nothing to report.
      await stage.isRung()
      stage.pass(60_000)
      await stage.tick()
      expect(await stage.isRung()).toBe(false)
    })

    it("a stop waits for it, and gives its runs back", async () => {
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
  "a passed run in a pool with a backlog",
  (engine) => {
    /** One slot, lanes of which some are known, and a backlog. */
    async function busyPool(lanes: readonly Lane[]) {
      const ends: (() => void)[] = []
      const run = () => new Promise<void>((resolve) => ends.push(resolve))
      const job = defineJob({ name: "plain", run }) as AnyJob
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      let ended = 0
      const finished = () => stage.events.filter(({ type }) => type === "attempt.finished").length
      /** Ends the handlers that run now; other runs take their slots. */
      const endAll = async () => {
        for (const end of ends.splice(0)) {
          ended += 1
          end()
        }
        await vi.waitUntil(() => finished() >= ended, PATIENCE)
      }
      /** Until no run is held up by one that was given back and is not written yet. */
      const tick = () => {
        const isOpen = (restMs: number) => restMs !== HELD_UP_MS
        const ticked = () => stage.tick().then(isOpen, () => true)
        return vi.waitUntil(ticked, PATIENCE)
      }
      const goOn = async (seconds: number) => {
        for (let second = 0; second < seconds; second += 1) {
          stage.pass(1_000)
          await tick()
          await endAll()
        }
      }
      // Each lane is met, gone through, and passed.
      for (const lane of lanes) await addBelow(stage, lane)
      await goOn(lanes.length + 4)
      await stage.enqueue(job, 200)
      await goOn(3)
      const missed = async () => {
        const ids = []
        for (const lane of lanes) ids.push(await addBelow(stage, lane))
        stage.worker.wake(undefined)
        return ids
      }
      return { stage, job, goOn, endAll, missed }
    }

    it("starts soon, lane by lane, when runs may have been missed", async () => {
      const { stage, goOn, missed } = await busyPool([3, 2, 1].map((priority) => ({ priority, solo: false })))
      const ids = await missed()
      await goOn(10)
      expect(stage.started()).toEqual(expect.arrayContaining(ids))
    })

    it("starts soon as well if it must not be claimed ahead of a slot", async () => {
      const { stage, goOn, missed } = await busyPool([{ priority: 0, solo: true }])
      const ids = await missed()
      await goOn(10)
      expect(stage.started()).toEqual(expect.arrayContaining(ids))
    })

    it("is looked for again soon if the sweep fails", async () => {
      const { stage, goOn, missed } = await busyPool([{ priority: 0, solo: false }])
      const ids = await missed()
      // The claim, and the sweep.
      stage.database.meddle("runs/claim", (run) => run())
      stage.database.meddle("runs/claim", busy)
      await goOn(10)
      expect(stage.started()).toEqual(expect.arrayContaining(ids))
    })

    it("is given back, while every slot is taken, if the answer of the sweep was lost", async () => {
      const { stage, job, goOn, endAll, missed } = await busyPool([{ priority: 0, solo: false }])
      await goOn(200)
      const [id] = await missed()
      await stage.enqueue(job, 1)
      stage.database.meddle("runs/claim", (run) => run())
      stage.database.meddle("runs/claim", answerLost)
      for (const _ of [1, 2, 3]) {
        await stage.tick().catch(() => {})
        stage.pass(10_000)
      }
      const held = await rowsOf(
        stage.database,
        `select lease is not null as held from {runs} where id = '${id}'`,
      )
      expect(held).toEqual([{ held: false }])
      await endAll()
    })
  },
  ["PGlite"],
)

describeEngines(
  "a claim whose answer was lost",
  (engine) => {
    it("is given back, however late it takes effect", async () => {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      let takeEffect = async () => {}
      stage.database.meddle("runs/claim", (run) => {
        takeEffect = async () => void (await run())
        return requestLost(run)
      })
      const enqueue = () => stage.enqueue(job, 1, { runAt: new Date(0) })
      await enqueue()
      await expect(stage.tick()).rejects.toThrow("the test cut the connection")
      await stage.tick()
      await stage.settled()
      // Long after the call was given up, the server gets the lock it waited for.
      stage.pass(120_000)
      await stage.tick()
      const [id = ""] = await enqueue()
      await takeEffect()
      await stage.tick()
      expect(stage.started()).not.toContain(id)
      stage.pass(60_000)
      await stage.tick()
      await stage.settled()
      expect(stage.started()).toContain(id)
    })
  },
  ["PGlite"],
)

describeEngines(
  "a lease that ended before this process knows",
  (engine) => {
    it("makes claims look again where they have found nothing meanwhile", async () => {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      await stage.tick()
      await stage.settled()
      await stage.tick()
      await execute(stage.database, "update {workers} set dead = true")
      const id = await addBelow(stage)
      stage.pass(60_000)
      await stage.tick()
      expect(stage.started()).not.toContain(id)
      await stage.engine.lease.tick(new AbortController().signal)
      await stage.tick()
      await stage.settled()
      expect(stage.started()).toContain(id)
    })
  },
  ["PGlite"],
)

describeEngines(
  "a sweep that fails",
  (engine) => {
    it("fails the next tick, so that it is reported, and is repeated", async () => {
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

describeEngines(
  "a worker that cannot record its low-water mark",
  (engine) => {
    it("goes on, and reports it", async () => {
      const job = defineJob({ name: "plain", run: async () => {} }) as AnyJob
      const pools = { default: 100 }
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools })
      await stage.enqueue(job, 3_000)
      for (let each = 0; each < 100; each += 1) stage.database.meddle("low-water/record", busy)
      const failures: unknown[] = []
      for (let tick = 0; tick < 60 && stage.started().length < 3_000; tick += 1) {
        stage.pass(300)
        await stage.tick().catch((error: unknown) => failures.push(error))
        await stage.settled()
      }
      expect(stage.started()).toHaveLength(3_000)
      expect(failures.length).toBeGreaterThan(0)
      expect(failures.length).toBeLessThan(5)
    })
  },
  ["PGlite"],
)
