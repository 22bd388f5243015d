/** Slots: none is lost, none is given away past those who wait for one, none is filled that cannot be kept. */
import { describe, expect, it, onTestFinished } from "vitest"
import { Bury, defineJob } from "../../src/index.ts"
import { openEngineStage } from "../support/engine-stage.ts"
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
      await stage.tick()
      // A pool that is fast claims ahead of its slots, also when none is free.
      await stage.enqueue(quick, 100)
      for (let ticks = 0; ticks < 300 && stage.started().length < 100; ticks += 1) {
        await stage.tick()
        await stage.settled()
        stage.pass(1)
      }
      await stage.tick()
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
