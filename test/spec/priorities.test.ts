/** Which run goes first: the higher priority, then the one that was ready first. The lowest priority never starves. */
import { expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"

const job = defineJob({ name: "quick", run: async () => {} })

/** Claims this often, each time for one slot. */
async function claim({ tick, settled }: EngineStage, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await tick()
    await settled()
  }
}

describeEngines(
  "a pool with one slot",
  (engine) => {
    it("starts the highest priority first, and within one the run that was enqueued first", async () => {
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      const ids = new Map<number, string[]>()
      for (const priority of [0, -1_000_000, 7, 1_000_000, 0, 7]) {
        const [id = ""] = await stage.enqueue(job, 1, { priority })
        ids.set(priority, [...(ids.get(priority) ?? []), id])
      }
      await claim(stage, 6)
      expect(stage.started()).toEqual(
        [1_000_000, 7, 0, -1_000_000].flatMap((priority) => ids.get(priority) ?? []),
      )
    })

    it("starts a new run of a higher priority before the backlog, in a lane it did not know", async () => {
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      await stage.enqueue(job, 30)
      await claim(stage, 3)
      const [urgent] = await stage.enqueue(job, 1, { priority: 5 })
      await claim(stage, 1)
      expect(stage.started()[3]).toBe(urgent)
    })

    it("begins with the lowest priority at every sixteenth claim, so that it never starves", async () => {
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      const low = await stage.enqueue(job, 2, { priority: -5 })
      await stage.enqueue(job, 100, { priority: 5 })
      await claim(stage, 50)
      const places = low.map((id) => stage.started().indexOf(id))
      expect(places).toEqual([15, 31])
    })
  },
  ["PGlite"],
)
