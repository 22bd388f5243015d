/** Slots: none is lost, none bypasses a waiting run, none is filled with a run that cannot be kept. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Bury, defineJob } from "../../src/index.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, untilRows } from "../support/sql.ts"
import { createWatchedKit } from "../support/watched-app.ts"
import { busy } from "../support/watched-database.ts"

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

describe("a slot", () => {
  it.each([
    ["throws an error", () => new Error("at once")],
    ["throws a verdict", () => Bury("at once")],
  ])("is free again after a handler that %s before it first waits", async (_, thrown) => {
    const hasty = defineJob({
      name: "hasty",
      retry: { attempts: 1 },
      run: () => {
        throw thrown()
      },
    })
    const good = defineJob({ name: "good", run: async () => "done" })
    const kit = await createWatchedKit(SERVER_URLS.postgres18)
    await using app = await kit.app({ jobs: [hasty, good], pools: { default: 2 } })
    await app.enqueueMany(hasty, [{}, {}, {}])
    await app.drain()
    const run = await app.enqueue(good)
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("serves more priorities than the pool remembers", async () => {
    const job = defineJob({ name: "ranked", run: async (n: number) => n })
    const kit = await createWatchedKit(SERVER_URLS.postgres18)
    await using app = await kit.app({ jobs: [job], pools: { default: 40 } })
    const runs = await app.enqueueMany(
      job,
      Array.from({ length: 80 }, (_, n) => ({ input: n, priority: n - 40 })),
    )
    await app.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(runs.map((_, n) => n))
  })
})

/** A fast pool claims ahead of its slots, also when none is free. */
async function becomeFast(stage: EngineStage, quick: AnyJob): Promise<void> {
  await stage.tick()
  await stage.enqueue(quick, 100)
  for (let ticks = 0; ticks < 300 && stage.started().length < 100; ticks += 1) {
    await stage.tick()
    await stage.settled()
    stage.pass(1)
  }
  await stage.tick()
}

describeEngines(
  "a slot that becomes free",
  (engine) => {
    it("goes to a waiting run under a limit, and not to one that is just enqueued", async () => {
      const gate = createGate()
      const slow = defineJob({ name: "slow", run: () => gate.opened })
      const limited = defineJob({ name: "limited", concurrency: 5, run: async () => {} })
      const quick = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [slow, limited, quick],
        pools: { default: 1 },
      })
      onTestFinished(gate.open)
      await becomeFast(stage, quick)
      const before = stage.started().length
      // Past the queue, into the only slot.
      const [first = ""] = await stage.enqueue(slow)
      const [waiting = ""] = await stage.enqueue(limited)
      await stage.engine.admissions.tick(signal)
      await stage.tick()
      expect(stage.started().slice(before)).toEqual([first])
      gate.open()
      await stage.worker.handled()
      const [late = ""] = await stage.enqueue(slow)
      for (let ticks = 0; ticks < 3; ticks += 1) {
        await stage.tick()
        await stage.settled()
      }
      expect(stage.started().slice(before)).toEqual([first, waiting, late])
    })

    it("goes to the next run under a limit, also when it became free during another look", async () => {
      const gate = createGate()
      const limited = defineJob({ name: "limited", concurrency: 100, run: () => gate.opened })
      const quick = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [limited, quick],
        pools: { default: 2 },
      })
      await becomeFast(stage, quick)
      const waiting = await stage.enqueue(limited, 9)
      await stage.engine.admissions.tick(signal)
      // The first claim brings less than it asks for, and takes so long that the next look is due.
      stage.database.meddle("runs/claim", async (claim) => {
        const runs = await claim()
        stage.pass(500)
        return runs
      })
      stage.database.meddle("runs/look", async (look) => {
        gate.open()
        await stage.settled()
        return look()
      })
      for (let ticks = 0; ticks < 9 && (await stage.isRung()); ticks += 1) {
        await stage.tick()
        await stage.settled()
        stage.pass(1)
      }
      expect(stage.started().slice(-9).sort()).toEqual(waiting.sort())
    })

    it("goes to the next run under a limit, also when earlier ones expired and needed no slot", async () => {
      const limited = defineJob({ name: "limited", concurrency: 100, run: async () => {} })
      const quick = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [limited, quick],
        pools: { default: 2 },
      })
      await becomeFast(stage, quick)
      await stage.enqueue(limited, 6, { startWithin: 1 })
      const [last = ""] = await stage.enqueue(limited)
      await stage.engine.admissions.tick(signal)
      await untilRows(
        stage.database,
        "select from {runs} where start_by < clock_timestamp() having count(*) = 6",
      )
      for (let restMs = 0; restMs === 0; ) restMs = await stage.tick()
      expect(stage.started().at(-1)).toBe(last)
    })

    it("goes to a prefetched run when the claim failed that might have brought others for it", async () => {
      const gates = Array.from({ length: 4 }, createGate)
      onTestFinished(() => {
        for (const gate of gates) gate.open()
      })
      let started = 0
      const slow = defineJob({ name: "slow", run: () => gates[started++]?.opened })
      const quick = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [slow, quick],
        pools: { default: 2 },
      })
      await becomeFast(stage, quick)
      await stage.enqueue(slow, 4)
      await stage.tick()
      expect([started, stage.worker.inStock()]).toEqual([2, 2])
      // The slot is kept for runs under limits, but the claim brings none.
      stage.worker.wake({ pool: "default", solo: true, priority: 0, rank: 0n })
      gates[0]?.open()
      await vi.waitUntil(() => stage.worker.running().length === 1)
      expect(started).toBe(2)
      stage.database.meddle("runs/claim", busy)
      await expect(stage.tick()).rejects.toThrow()
      expect([started, stage.worker.inStock()]).toEqual([3, 1])
    })

    it("goes to the retry of a run whose handler overran, as soon as that handler has ended", async () => {
      const gate = createGate()
      onTestFinished(gate.open)
      const stubborn = defineJob({
        name: "stubborn",
        timeout: 1,
        retry: { attempts: 2, base: 0 },
        run: () => gate.opened,
      })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [stubborn] })
      await stage.tick()
      const [id = ""] = await stage.enqueue(stubborn)
      await stage.worker.settled()
      // The run can be claimed, by any process but this one.
      for (let ticks = 0; ticks < 3; ticks += 1) {
        await stage.engine.promoter.tick(signal)
        await stage.engine.promoter.swept()
        await stage.tick()
      }
      await stage.isRung()
      expect(stage.started()).toEqual([id])
      gate.open()
      await stage.worker.handled()
      expect(await stage.isRung()).toBe(true)
      await stage.tick()
      expect(stage.started()).toEqual([id, id])
    })

    it("is claimed for again when the lease was lost during a look", async () => {
      const quick = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [quick] })
      await stage.tick()
      stage.worker.wake({ pool: "default", solo: false, priority: 0, rank: 0n })
      stage.database.meddle("runs/claim", async (claim) => {
        await execute(stage.database, "update {workers} set dead = true")
        stage.pass(HOUR_MS / 2)
        await stage.engine.lease.tick(signal)
        return claim()
      })
      expect(await stage.tick()).toBe(0)
    })

    it("is not filled when earlier runs have used up the lease without a pause", async () => {
      const blocking = defineJob({ name: "blocking", run: async () => stage.pass(600_000) })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [blocking],
        pools: { default: 20 },
      })
      await stage.tick()
      await stage.enqueue(blocking, 20)
      await stage.tick()
      // Ten minutes each under a lease of an hour, of which a third has to be left.
      expect(stage.started()).toHaveLength(5)
    })
  },
  ["PGlite"],
)
