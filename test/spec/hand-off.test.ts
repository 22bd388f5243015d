/** A run enqueued in an idle process starts in its own insert: ahead of the queue, when no run waits in it. */
import { expect, it, vi } from "vitest"
import { DEFAULTS } from "../../src/defaults.ts"
import { DatabaseError, defineJob, type JobSettings } from "../../src/index.ts"
import { type EngineStage, openEngineStage, type StageOptions } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { sessionEnded } from "../support/watched-database.ts"

const plain = (settings: Partial<JobSettings> = {}) =>
  defineJob({ name: "plain", ...settings, run: async () => "done" })

describeEngines(
  "a run that is enqueued in an idle process",
  (engine) => {
    /** A process that has looked through its pool and found nothing. */
    async function idle(options: StageOptions) {
      const stage = await openEngineStage(await engine.migrated(), options)
      await stage.tick()
      const ran = stage.database.ran.length
      return { ...stage, since: () => stage.database.ran.slice(ran) }
    }

    it("is started by the insert itself, without a claim", async () => {
      const job = plain()
      const { enqueue, started, settled, since, database } = await idle({ jobs: [job] })
      const [id = ""] = await enqueue(job)
      expect(started()).toEqual([id])
      await settled()
      expect(since().filter((name) => name !== "clock/read")).toEqual(["runs/hand-off", "runs/complete"])
      const [attempt] = await rowsOf(
        database,
        `select outcome, attempt, charged from {attempts} where run = '${id}'`,
      )
      expect(attempt).toEqual({ outcome: "succeeded", attempt: 1, charged: true })
    })

    it("leaves nothing to clean up after its settle, also where runs were claimed before", async () => {
      const job = plain()
      const { enqueue, settled, isRung, tick } = await idle({ jobs: [job] })
      await enqueue(job, 1, { key: "k" })
      await tick()
      await settled()
      await tick()
      await isRung()
      await enqueue(job)
      await settled()
      expect(await isRung()).toBe(false)
    })

    it("has its claim note removed with others after a hundred hand-offs", async () => {
      const job = plain()
      const { enqueue, settled, isRung, tick, database } = await idle({ jobs: [job] })
      await isRung()
      const rung: boolean[] = []
      for (let runs = 1; runs <= 100; runs += 1) {
        await enqueue(job)
        await settled()
        rung.push(await isRung())
      }
      expect(rung).toEqual([...Array(99).fill(false), true])
      await tick()
      expect(await rowsOf(database, "select from {claims}")).toEqual([])
    })

    it("does not take a slot reserved for runs under limits, where it would wait", async () => {
      const job = plain()
      const { enqueue, started, tick, pass, worker, isRung } = await idle({
        jobs: [job],
        pools: { default: 1 },
      })
      worker.wake({ pool: "default", solo: true, priority: 0, rank: 0n })
      await tick()
      await tick()
      pass(600)
      const [id] = await enqueue(job)
      expect([...started(), worker.inStock()]).toEqual([0])
      expect(await isRung()).toBe(true)
      await tick()
      await tick()
      expect(started()).toEqual([id])
    })

    it.each<[string, (stage: EngineStage) => Promise<void>]>([
      ["is kept for runs under limits meanwhile", async ({ pass }) => pass(600)],
      [
        "one of those has come for meanwhile",
        async ({ worker, tick }) => {
          worker.wake({ pool: "default", solo: true, priority: 0, rank: 0n })
          await tick()
        },
      ],
    ])("does not block a slot that %s", async (_, happen) => {
      const job = plain()
      const stage = await idle({ jobs: [job], pools: { default: 1 } })
      stage.worker.wake({ pool: "default", solo: true, priority: 0, rank: 0n })
      await stage.tick()
      await stage.tick()
      stage.database.meddle("runs/hand-off", async (insert) => {
        await happen(stage)
        await stage.isRung()
        return insert()
      })
      const [id] = await stage.enqueue(job)
      while ((await stage.isRung()) && stage.started().length === 0) await stage.tick()
      expect(stage.started()).toEqual([id])
    })

    it("takes no more slots after an insert whose outcome is unknown", async () => {
      const job = plain()
      const gate = createGate()
      const stage = await idle({ jobs: [job], pools: { default: 1 } })
      stage.database.meddle("runs/hand-off", async (insert) => {
        await insert()
        return sessionEnded(insert)
      })
      stage.database.meddle("commit", async (commit) => {
        await gate.opened
        return commit()
      })
      await stage.isRung()
      const enqueued = stage.enqueue(job)
      await vi.waitUntil(stage.isRung)
      for (let ticks = 0; ticks < 3; ticks += 1) await stage.tick()
      expect(stage.started()).toHaveLength(1)
      gate.open()
      expect(await enqueued).toEqual(stage.started())
    })

    it("does not change how often the pool looks around", async () => {
      const job = plain()
      const { tick, enqueue, settled } = await idle({ jobs: [job] })
      let restMs = 0
      for (let polls = 0; polls < 5; polls += 1) restMs = await tick()
      expect(restMs).toBe(DEFAULTS.idlePollMs)
      await enqueue(job)
      await settled()
      expect(await tick()).toBe(DEFAULTS.pollMs)
    })

    it("is also started after the process has looked again and found nothing", async () => {
      const job = plain()
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      // A look from the bottom that takes this long is not repeated for half a second.
      stage.database.meddle("runs/look", async (look) => {
        stage.pass(10)
        return look()
      })
      await stage.tick()
      for (let polls = 0; polls < 3; polls += 1) {
        stage.pass(100)
        await stage.tick()
      }
      const [id] = await stage.enqueue(job)
      expect(stage.started()).toEqual([id])
      await stage.settled()
    })

    it("is started again and again, one after the other and side by side, while slots are free", async () => {
      const gate = createGate()
      const job = defineJob({ name: "plain", run: () => gate.opened })
      const { enqueue, started, since } = await idle({ jobs: [job], pools: { default: 3 } })
      for (let runs = 1; runs <= 3; runs += 1) await enqueue(job)
      expect(started()).toHaveLength(3)
      await enqueue(job)
      expect(started()).toHaveLength(3)
      expect(since()).not.toContain("runs/claim")
      gate.open()
    })

    it.each<[string, Partial<JobSettings>, object]>([
      ["has a delay", {}, { delay: 1 }],
      ["has a time", {}, { runAt: new Date(0) }],
      ["has a key", {}, { key: "k" }],
      ["goes into another pool", {}, { pool: "side" }],
      ["is under a limit", { concurrency: 1 }, {}],
      ["must have its start written down", { onLost: "bury" }, {}],
    ])("waits for its turn when it %s", async (_, settings, options) => {
      const job = plain(settings)
      const { enqueue, started, database } = await idle({ jobs: [job], pools: { default: 5, side: 5 } })
      const [id] = await enqueue(job, 1, options)
      expect(started()).toEqual([])
      expect(
        await rowsOf(database, `select from {runs} where id = '${id}' and {schema}.state(runs) <> 'running'`),
      ).toHaveLength(1)
    })

    it("may be one of several: the insert starts all of them, in their order", async () => {
      const job = plain()
      const { enqueue, started, settled, since } = await idle({ jobs: [job], pools: { default: 3 } })
      const ids = await enqueue(job, 3)
      expect(started()).toEqual(ids)
      await settled()
      expect(since()).not.toContain("runs/claim")
    })

    it("waits for its turn when there are more runs than free slots", async () => {
      const gate = createGate()
      const job = defineJob({ name: "plain", run: () => gate.opened })
      const { enqueue, started, tick } = await idle({ jobs: [job], pools: { default: 4 } })
      const [first] = await enqueue(job)
      await enqueue(job, 4)
      expect(started()).toEqual([first])
      await tick()
      expect(started()).toHaveLength(4)
      gate.open()
    })

    it("waits for its turn when another run of the same call has to wait", async () => {
      const job = plain()
      const { enqueue, started } = await idle({ jobs: [job] })
      await enqueue(job, 2, (index: number) => (index === 0 ? {} : { delay: 1 }))
      expect(started()).toEqual([])
    })

    it("comes after runs of a higher priority in the same call", async () => {
      const job = plain()
      const { enqueue, started } = await idle({ jobs: [job] })
      const [low, high] = await enqueue(job, 2, (index: number) => ({ priority: index }))
      expect(started()).toEqual([high, low])
    })

    it("waits for its turn when this process has no handler for it", async () => {
      const stranger = defineJob({ name: "stranger", run: async () => {} })
      const { enqueue, started, database } = await idle({ jobs: [plain()] })
      await enqueue(stranger)
      expect(started()).toEqual([])
      expect(await rowsOf(database, "select {schema}.state(runs) from {runs}")).toEqual([{ state: "ready" }])
    })

    it.each([
      { what: "its job", kind: "job", name: "plain" },
      { what: "its pool", kind: "pool", name: "default" },
      { what: "everything", kind: "everything", name: "" },
    ])(
      "waits for its turn when $what is paused, though this process has not heard of that",
      async ({ kind, name }) => {
        const job = plain()
        const { enqueue, started, database } = await idle({ jobs: [job] })
        await execute(database, `insert into {pauses} values ('${kind}', '${name}', {now}, 'ada', 'to see')`)
        await enqueue(job)
        expect(started()).toEqual([])
        expect(await rowsOf(database, "select {schema}.state(runs) from {runs}")).toEqual([
          { state: "ready" },
        ])
      },
    )

    it("waits for its turn when the lease is dead, though this process has not heard of that", async () => {
      const job = plain()
      const { enqueue, started, database } = await idle({ jobs: [job] })
      await execute(database, "update {workers} set dead = true")
      await enqueue(job)
      expect(started()).toEqual([])
      expect(await rowsOf(database, "select {schema}.state(runs) from {runs}")).toEqual([{ state: "ready" }])
    })

    it("waits for its turn after a wake-up since the last look", async () => {
      const job = plain()
      const { enqueue, started, worker, tick } = await idle({ jobs: [job] })
      worker.wake({ pool: "default", solo: false, priority: 0, rank: 1n })
      await enqueue(job)
      expect(started()).toEqual([])
      await tick()
      expect(started()).toHaveLength(1)
    })

    it("waits for its turn when this process has not looked yet", async () => {
      const job = plain()
      const { enqueue, started } = await openEngineStage(await engine.migrated(), { jobs: [job] })
      await enqueue(job)
      expect(started()).toEqual([])
    })

    it("waits behind runs that already wait: they go first", async () => {
      const gate = createGate()
      const job = defineJob({ name: "plain", run: () => gate.opened })
      const { enqueue, started, tick, settled } = await idle({ jobs: [job], pools: { default: 1 } })
      const [first] = await enqueue(job)
      const [second] = await enqueue(job)
      expect(started()).toEqual([first])
      gate.open()
      await settled()
      const [third] = await enqueue(job)
      await tick()
      await settled()
      await tick()
      await settled()
      expect(started()).toEqual([first, second, third])
    })

    it("is given back when the process stops in that moment", async () => {
      const job = plain()
      const { enqueue, started, worker, database } = await idle({ jobs: [job] })
      database.meddle("runs/hand-off", async (insert) => {
        const answer = await insert()
        worker.close()
        return answer
      })
      await enqueue(job)
      await worker.settled()
      expect(started()).toEqual([])
      expect(await rowsOf(database, "select {schema}.state(runs), attempt from {runs}")).toEqual([
        { state: "ready", attempt: 0 },
      ])
    })

    it("leaves its slot free when it could not be written", async () => {
      const job = plain()
      const { enqueue, started, database } = await idle({ jobs: [job], pools: { default: 1 } })
      database.meddle("runs/hand-off", async () => {
        throw new DatabaseError("DATABASE_FULL", "the disk is full")
      })
      await expect(enqueue(job)).rejects.toMatchObject({ code: "DATABASE_FULL" })
      const [id] = await enqueue(job)
      expect(started()).toEqual([id])
    })
  },
  ["PGlite"],
)
