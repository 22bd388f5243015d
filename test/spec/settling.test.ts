/** How attempts are settled: together, before the events, and never too many behind. */
import { expect, it, vi } from "vitest"
import { DEFAULTS } from "../../src/defaults.ts"
import { defineJob } from "../../src/index.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate, type Gate } from "../support/gate-opened-by-test.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { answerLost, outOfReach, requestLost } from "../support/watched-database.ts"

const { signal } = new AbortController()

/** Blocks settles until the gate opens. */
function blockSettle({ database }: EngineStage, times: number): Gate {
  const gate = createGate()
  for (let time = 0; time < times; time += 1) {
    database.meddle("runs/complete", (settle) => gate.opened.then(settle))
  }
  return gate
}

const finished = ({ events }: EngineStage) => events.filter(({ type }) => type === "attempt.finished").length

/** Lets everything happen that can happen without a settle. */
async function exhaust(stage: EngineStage, ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) {
    await stage.tick()
    await stage.worker.handled()
  }
}

describeEngines(
  "the end of an attempt",
  (engine) => {
    it("is reported only after its commit", async () => {
      const job = defineJob({ name: "quick", run: async () => "done" })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      const [id = ""] = await stage.enqueue(job, 1, { runAt: new Date(0) })
      const gate = blockSettle(stage, 1)
      let told: unknown
      void stage.engine.results.wait(id).then((end) => {
        told = end
      })
      await exhaust(stage, 2)
      await vi.waitUntil(() => stage.database.count("runs/complete") === 1)
      expect(finished(stage)).toBe(0)
      expect(told).toBeUndefined()
      gate.open()
      await stage.settled()
      expect(finished(stage)).toBe(1)
      await vi.waitUntil(() => told !== undefined)
      expect(told).toMatchObject({ state: "succeeded", result: '"done"' })
    })

    it("whose answer was lost is reported as what the run became, not as what was meant", async () => {
      const job = defineJob({
        name: "cancelled",
        // By another process, and this one has not heard of it.
        run: async (_: undefined, ctx) =>
          execute(stage.database, `update {runs} set cancelling = true where id = '${ctx.runId}'`),
      })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      const [id = ""] = await stage.enqueue(job, 1, { runAt: new Date(0) })
      stage.database.meddle("runs/complete", answerLost)
      const end = stage.engine.results.wait(id)
      await exhaust(stage, 2)
      await stage.settled()
      expect(await end).toMatchObject({ state: "cancelled", result: null })
      const told = stage.events.filter(({ type }) => type === "attempt.finished")
      expect(told).toMatchObject([{ outcome: "cancelled", runState: "cancelled" }])
    })

    it("is reported when it was written, whatever happens to the lookup of another beside it", async () => {
      const gate = createGate()
      const fails = (name: string, first: Promise<void> | undefined) => {
        const run = async () => {
          await first
          throw new Error("as it should")
        }
        return defineJob({ name, retry: { attempts: 1 }, run })
      }
      const jobs = [fails("at-once", undefined), fails("later", gate.opened)]
      const stage = await openEngineStage(await engine.migrated(), { jobs, pools: { default: 2 } })
      for (const job of jobs) await stage.enqueue(job, 1, { runAt: new Date(0) })
      // The answer to the first is lost; the second has ended when both are written again.
      stage.database.meddle("runs/settle", async (settle) => {
        await settle()
        gate.open()
        return requestLost(settle)
      })
      stage.database.meddle("attempts/find-settled", outOfReach)
      await stage.tick()
      await stage.settled()
      expect(stage.database.count("attempts/find-settled")).toBe(2)
      expect(stage.events.filter(({ type }) => type === "attempt.fenced")).toEqual([])
      expect(finished(stage)).toBe(2)
    })

    it("whose answer was lost is not mixed up with the next attempt, when both are written at once", async () => {
      let began = 0
      const job = defineJob({
        name: "fails",
        retry: { attempts: 2, delay: "1ms" },
        run: async () => {
          began += 1
          throw new Error("as it should")
        },
      })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 2 } })
      await stage.enqueue(job, 1, { runAt: new Date(0) })
      // The first end is written, and the second attempt has ended when its answer is lost.
      stage.database.meddle("runs/settle", async (settle) => {
        await settle()
        await vi.waitUntil(async () => {
          await stage.engine.promoter.tick(signal)
          await stage.engine.promoter.swept()
          await stage.tick()
          return began === 2
        })
        return requestLost(settle)
      })
      await stage.tick()
      await stage.settled()
      const told = stage.events.filter(({ type }) => type === "attempt.finished")
      expect(told.map((event) => "runState" in event && event.runState)).toEqual(["waiting", "dead"])
    })

    it("is written together with others", async () => {
      const job = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 500 } })
      await stage.enqueue(job, 500)
      await stage.tick()
      await stage.settled()
      expect(finished(stage)).toBe(500)
      // Up to 500 at once, in slices of a hundred.
      expect(stage.database.count("runs/complete")).toBeLessThanOrEqual(10)
    })

    it.each([
      ["now", 1],
      ["batched", 2],
    ] as const)(
      "that is settled %s keeps its slot accordingly until it is written",
      async (settle, starts) => {
        const job = defineJob({ name: "quick", settle, run: async () => {} })
        const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
        await stage.enqueue(job, 2)
        const gate = blockSettle(stage, 2)
        await exhaust(stage, 4)
        expect(stage.started()).toHaveLength(starts)
        gate.open()
        await stage.settled()
        await exhaust(stage, 2)
        await stage.settled()
        expect(stage.started()).toHaveLength(2)
        expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
      },
    )

    it("that is settled now is written at once and alone, while other handlers are busy", async () => {
      const gate = createGate()
      const busy = defineJob({ name: "busy", run: () => gate.opened })
      const urgent = defineJob({ name: "urgent", settle: "now", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [busy, urgent] })
      await stage.enqueue(busy, 5)
      await stage.enqueue(urgent, 2)
      await stage.tick()
      await vi.waitUntil(() => finished(stage) === 2)
      gate.open()
      await stage.settled()
    })

    it("keeps runs from starting when a thousand ends wait behind those being written", async () => {
      const job = defineJob({ name: "quick", run: async () => {} })
      const slots = 50
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: slots } })
      await stage.enqueue(job, 2_500)
      const gate = blockSettle(stage, 10)
      await exhaust(stage, 80)
      const unsettled = stage.started().length
      // Handlers that were running when the last of them ended have ended since.
      const mostBehind = 1_000 + slots
      expect(unsettled).toBeGreaterThan(mostBehind)
      expect(unsettled).toBeLessThan(2 * DEFAULTS.settleRuns + mostBehind)
      expect(stage.worker.running()).toEqual([])
      await exhaust(stage, 5)
      expect(stage.started()).toHaveLength(unsettled)
      gate.open()
      await stage.settled()
      await exhaust(stage, 80)
      await stage.settled()
      expect(finished(stage)).toBeGreaterThanOrEqual(2_500)
      expect(new Set(stage.started()).size).toBe(2_500)
      expect(await rowsOf(stage.database, "select from {runs}")).toEqual([])
    })

    it("keeps runs from starting when it has not been written for a second", async () => {
      const job = defineJob({ name: "quick", run: async () => {} })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: 1 } })
      await stage.enqueue(job, 1)
      const gate = blockSettle(stage, 1)
      await exhaust(stage, 2)
      expect(stage.started()).toHaveLength(1)
      stage.pass(1_000)
      await stage.enqueue(job, 1)
      await exhaust(stage, 3)
      expect(stage.started()).toHaveLength(1)
      gate.open()
      await stage.settled()
      await exhaust(stage, 2)
      expect(stage.started()).toHaveLength(2)
      await stage.settled()
    })

    it("that could not be written is written later, and the run is not executed again", async () => {
      const job = defineJob({ name: "quick", run: async () => "done" })
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job] })
      const [id] = await stage.enqueue(job, 1)
      for (let times = 0; times < 3; times += 1) {
        stage.database.meddle("runs/complete", async () => Promise.reject(new Error("away")))
      }
      await exhaust(stage, 2)
      await stage.settled()
      expect(stage.started()).toEqual([id])
      expect(stage.events.filter(({ type }) => type === "loop.failed")).toHaveLength(3)
      expect(await rowsOf(stage.database, "select outcome from {attempts}")).toEqual([
        { outcome: "succeeded" },
      ])
      await stage.engine.lease.tick(signal)
    })
  },
  ["PGlite"],
)
