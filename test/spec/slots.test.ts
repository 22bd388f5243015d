/** Slots: none is lost, none is given away past those who wait for one, none is filled that cannot be kept. */
import { describe, expect, it, onTestFinished } from "vitest"
import { Bury, defineJob } from "../../src/index.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate.ts"
import { PLACES } from "../support/places.ts"
import { createWatchedKit } from "../support/watched-app.ts"

const { signal } = new AbortController()

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
    const kit = await createWatchedKit(PLACES.postgres18)
    await using app = await kit.app({ jobs: [hasty, good], pools: { default: 2 } })
    await app.enqueueMany(hasty, [{}, {}, {}])
    await app.drain()
    const run = await app.enqueue(good)
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("is found for runs of more priorities than anyone remembers", async () => {
    const job = defineJob({ name: "ranked", run: async (n: number) => n })
    const kit = await createWatchedKit(PLACES.postgres18)
    await using app = await kit.app({ jobs: [job], pools: { default: 40 } })
    const runs = await app.enqueueMany(
      job,
      Array.from({ length: 80 }, (_, n) => ({ input: n, priority: n - 40 })),
    )
    await app.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(runs.map((_, n) => n))
  })
})

/** A pool that is fast claims ahead of its slots, also when none is free. */
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
    it("goes to a run under a limit that waits for it, and not past it to one that is just enqueued", async () => {
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

    it("goes to the next run under a limit, also when it became free while something else was looked for", async () => {
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
      // The first claim brings less than it asks for, and takes so long that it is time to look around.
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

    it("is not filled when those before have used up the lease without a pause", async () => {
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
