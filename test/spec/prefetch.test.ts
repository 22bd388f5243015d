/** Claiming ahead of free slots: only in a fast pool, only for a second, and never a run that must not wait. */
import { expect, it, vi } from "vitest"
import { defineJob, type JobSettings } from "../../src/index.ts"
import { perform } from "../../src/operations/perform.ts"
import { cancel } from "../../src/operations/runs/cancel.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { type EngineStage, openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, rowsOf } from "../support/sql.ts"

const by = { actor: "a test", reason: "to see" }
const SLOTS = 2
const { signal } = new AbortController()

/** A job whose first runs end at once, and whose later runs wait until the test lets them go. */
function gated(quick: number, settings: Partial<JobSettings> = {}) {
  const gate = createGate()
  let runs = 0
  const job = defineJob({
    name: "gated",
    ...settings,
    run: async () => {
      runs += 1
      if (runs > quick) await gate.opened
    },
  })
  return { job, gate }
}

/** How many runs the process holds, started or not. */
async function claimed({ database }: EngineStage, job = "gated"): Promise<number> {
  return (
    await rowsOf(database, `select from {runs} where {schema}.state(runs) = 'running' and job = '${job}'`)
  ).length
}

async function unfinished({ database }: EngineStage, job: string): Promise<number> {
  return (await rowsOf(database, `select from {runs} where job = '${job}'`)).length
}

/** A pool that has been fast until now, with prefetched runs: its slots are taken until the gate opens. */
async function withStore(runtime: Runtime, beside: Parameters<typeof defineJob>[0][] = []) {
  const { job, gate } = gated(200)
  const others = beside.map((options) => defineJob(options))
  const stage = await openEngineStage(runtime, { jobs: [job, ...others], pools: { default: SLOTS } })
  await stage.enqueue(job, 600)
  const isBlocked = () => stage.started().length === 200 + SLOTS
  for (let ticks = 0; !isBlocked() && ticks < 1_000; ticks += 1) {
    await stage.tick()
    await vi.waitUntil(() => isBlocked() || stage.worker.running().length === 0)
    stage.pass(1)
  }
  await stage.tick()
  return { stage, gate, job, others }
}

describeEngines(
  "a pool",
  (engine) => {
    it("that has done nothing yet claims for its free slots, and no more", async () => {
      const { job, gate } = gated(0)
      const stage = await openEngineStage(await engine.migrated(), { jobs: [job], pools: { default: SLOTS } })
      await stage.enqueue(job, 20)
      await stage.tick()
      stage.pass(1)
      await stage.tick()
      expect(stage.worker.inStock()).toBe(0)
      expect(await claimed(stage)).toBe(SLOTS)
      gate.open()
    })

    it("of slow handlers claims nothing ahead", async () => {
      const gates = Array.from({ length: 30 }, createGate)
      let next = 0
      const slow = defineJob({
        name: "gated",
        run: async () => {
          const gate = gates[next]
          next += 1
          await gate?.opened
        },
      })
      const stage = await openEngineStage(await engine.migrated(), {
        jobs: [slow],
        pools: { default: SLOTS },
      })
      await stage.enqueue(slow, 30)
      for (const gate of gates.slice(0, 20)) {
        await stage.tick()
        expect(await claimed(stage)).toBe(SLOTS)
        expect(stage.worker.inStock()).toBe(0)
        const before = stage.worker.running().length
        // Two slots, a second for each run.
        stage.pass(500)
        gate.open()
        await vi.waitUntil(() => stage.worker.running().length < before)
      }
      for (const gate of gates) gate.open()
    })

    it("of fast handlers prefetches runs, and starts them without another claim", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      const stored = stage.worker.inStock()
      expect(stored).toBeGreaterThan(10)
      expect(await claimed(stage)).toBe(SLOTS + stored)
      const claims = stage.database.count("runs/claim")
      gate.open()
      await vi.waitUntil(() => stage.started().length >= 200 + SLOTS + stored)
      expect(stage.database.count("runs/claim")).toBe(claims)
      await stage.settled()
    })

    it("starts prefetched runs in their order", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      const order = (
        await rowsOf(
          stage.database,
          "select id from {runs} where {schema}.state(runs) = 'running' order by rank",
        )
      ).map(({ id }) => id)
      gate.open()
      await vi.waitUntil(() => stage.started().length >= 200 + order.length)
      expect(stage.started().slice(200, 200 + order.length)).toEqual(order)
      await stage.settled()
    })

    it("gives back a run that was prefetched a second ago, uncharged, for other workers", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      const stored = stage.worker.inStock()
      stage.pass(900)
      await stage.tick()
      expect(stage.worker.inStock()).toBe(stored)
      stage.pass(100)
      await stage.tick()
      expect(stage.worker.inStock()).toBe(0)
      await vi.waitUntil(async () => (await claimed(stage)) === SLOTS)
      const released = await rowsOf(
        stage.database,
        "select run, attempt, charged, started_at from {attempts} where outcome = 'released'",
      )
      expect(released).toHaveLength(stored)
      for (const row of released) expect(row).toMatchObject({ attempt: 1, charged: false, started_at: null })
      const back =
        "select from {runs} where {schema}.state(runs) = 'ready' and attempt = 0 and not suspect and not solo"
      expect(await rowsOf(stage.database, back)).toHaveLength(400 - SLOTS)
      gate.open()
    })

    it("gives all prefetched runs back at once when it closes", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      const stored = stage.worker.inStock()
      stage.worker.close()
      expect(stage.worker.inStock()).toBe(0)
      await vi.waitUntil(async () => (await claimed(stage)) === SLOTS)
      const charged = await rowsOf(
        stage.database,
        "select from {attempts} where outcome = 'released' and charged",
      )
      expect(charged).toEqual([])
      gate.open()
      await stage.settled()
      // No run started after that, although slots became free.
      expect(stage.started()).toHaveLength(200 + SLOTS)
      expect(stored).toBeGreaterThan(0)
    })

    it("never prefetches a run under a limit", async () => {
      const limited = { name: "limited", concurrency: 100, run: async () => {} } as const
      const { stage, gate, others } = await withStore(await engine.migrated(), [limited])
      await stage.enqueue(others[0] as never, 50)
      await stage.engine.admissions.tick(signal)
      expect(
        await rowsOf(
          stage.database,
          "select from {runs} where job = 'limited' and {schema}.state(runs) = 'ready'",
        ),
      ).toHaveLength(50)
      stage.pass(600)
      for (let ticks = 0; ticks < 5; ticks += 1) await stage.tick()
      expect(await claimed(stage, "limited")).toBe(0)
      gate.open()
    })

    it("never prefetches a suspect", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      await execute(
        stage.database,
        "update {runs} set solo = true, suspect = true where {schema}.state(runs) = 'ready'",
      )
      stage.worker.wake(undefined)
      stage.pass(600)
      for (let ticks = 0; ticks < 5; ticks += 1) await stage.tick()
      expect(
        await rowsOf(stage.database, "select from {runs} where {schema}.state(runs) = 'running' and suspect"),
      ).toEqual([])
      gate.open()
    })

    it("claims no more runs under a limit than slots are free, however fast it is", async () => {
      const limited = { name: "limited", concurrency: 100, run: async () => {} } as const
      const { stage, gate, others } = await withStore(await engine.migrated(), [limited])
      await stage.enqueue(others[0] as never, 50)
      await stage.engine.admissions.tick(signal)
      gate.open()
      for (let ticks = 0; ticks < 200 && (await unfinished(stage, "limited")) > 0; ticks += 1) {
        stage.worker.wake(undefined)
        await stage.tick()
        await stage.settled()
        stage.pass(1)
      }
      // A run claimed without a slot would have to be given back.
      const outcomes = "select distinct outcome from {attempts} where job = 'limited'"
      expect(await rowsOf(stage.database, outcomes)).toEqual([{ outcome: "succeeded" }])
    })

    it("does not start a prefetched run that was cancelled", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      const query = "select id from {runs} where {schema}.state(runs) = 'running' order by rank desc limit 1"
      const [last] = await rowsOf(stage.database, query)
      const id = String(last?.["id"])
      const stored = stage.worker.inStock()
      const { runtime, engine: running } = stage
      const ended = running.results.wait(id)
      expect(await perform(running.tell, cancel(runtime, { id, by }))).toEqual({
        changed: true,
        state: "cancelling",
      })
      expect(await ended).toMatchObject({ state: "cancelled" })
      expect(stage.worker.inStock()).toBe(stored - 1)
      gate.open()
      await stage.settled()
      expect(stage.started()).not.toContain(id)
      const [attempt] = await rowsOf(
        stage.database,
        `select outcome, run_state from {attempts} where run = '${id}'`,
      )
      expect(attempt).toEqual({ outcome: "cancelled", run_state: "cancelled" })
    })

    it("starts no prefetched run that was claimed under a lost lease", async () => {
      const { stage, gate } = await withStore(await engine.migrated())
      await execute(stage.database, "update {workers} set dead = true")
      await stage.engine.lease.tick(signal)
      gate.open()
      await stage.worker.handled()
      expect(stage.started()).toHaveLength(200 + SLOTS)
    })
  },
  ["PGlite"],
)
