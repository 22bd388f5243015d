/** Waiting runs become ready in time, also while an old backlog takes long to be found. */
import { expect, it } from "vitest"
import { createPromoter } from "../../src/engine/queue/promoter.ts"
import type { Database } from "../../src/store/database.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { insert, withStoppedClock } from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"
import { busy, watchDatabase } from "../support/watched-database.ts"

describeEngines(
  "a promoter",
  (engine) => {
    /** A promoter that starts at ten, an hour after everything was enqueued. */
    async function stageOf(...delaysMs: number[]) {
      const { database: bare, clock, ...runtime } = await withStoppedClock(engine)
      await insert(bare, ...delaysMs.map((delayMs) => ({ delayMs })))
      await clock.set("2026-03-01T10:00Z")
      const watched = watchDatabase(bare)
      /** The lower bound of each question for due runs. */
      const froms: number[] = []
      const run: Database["run"] = (statement, params, call) => {
        if (statement.name === promoteRuns.name) froms.push((params as { from: number }).from)
        return watched.run(statement, params, call)
      }
      const database = { ...watched, run }
      const time = { ms: 1_000_000 }
      const told: number[] = []
      const promoter = createPromoter({
        runtime: { ...runtime, database, monotonicMs: () => time.ms } as never,
        onReady: ({ priority }) => told.push(priority),
        onParked: () => {},
      })
      const stopping = new AbortController()
      const tick = () => promoter.tick(stopping.signal)
      const ready = async () =>
        (await rowsOf(bare, "select from {runs} where {schema}.state(runs) = 'ready'")).length
      return { promoter, database, clock, time, told, froms, stopping, tick, ready }
    }

    const HOUR_MS = 3_600_000

    it("that starts promotes the old backlog beside the runs that come due then", async () => {
      const { promoter, database, clock, tick, ready } = await stageOf(1_000, HOUR_MS + 1_000)
      const isHeld = createGate()
      database.meddle("runs/promote", async (run) => {
        await isHeld.opened
        return run()
      })
      await tick()
      expect(await ready()).toBe(0)
      await clock.set("2026-03-01T10:00:01Z")
      await tick()
      expect(await ready()).toBe(1)
      isHeld.open()
      await promoter.swept()
      expect(await ready()).toBe(2)
    })

    it("continues a backlog where it stopped, however many batches that takes", async () => {
      const { promoter, tick, ready, told, froms } = await stageOf(...Array(2_500).fill(1_000))
      await tick()
      await promoter.swept()
      expect(await ready()).toBe(2_500)
      expect(told).toHaveLength(3)
      const [nineOClock, tenOClock] = ["2026-03-01T09:00Z", "2026-03-01T10:00Z"].map(Date.parse)
      const backlog = (nineOClock ?? 0) + 1_000
      // One for what comes due, and three for the backlog, each where the one before has ended.
      expect(froms.toSorted((a, b) => a - b)).toEqual([0, backlog, backlog, (tenOClock ?? 0) - 1])
    })

    it("leaves the rest of a backlog to others when its process stops", async () => {
      const { promoter, database, tick, ready, stopping } = await stageOf(...Array(2_500).fill(1_000))
      database.meddle("runs/promote", async (run) => {
        stopping.abort()
        return run()
      })
      await tick()
      await promoter.swept()
      expect(await ready()).toBe(1_000)
    })

    it("sweeps again after five seconds, or after fifty times as long as the sweep took", async () => {
      const { promoter, database, time, tick } = await stageOf()
      const sweeps = async () => {
        const before = database.count("runs/promote")
        await tick()
        await promoter.swept()
        return database.count("runs/promote") - before - 1
      }
      expect(await sweeps()).toBe(1)
      time.ms += 4_999
      expect(await sweeps()).toBe(0)
      time.ms += 1
      database.meddle("runs/promote", async (run) => {
        time.ms += 1_000
        return run()
      })
      expect(await sweeps()).toBe(1)
      time.ms += 49_999
      expect(await sweeps()).toBe(0)
      time.ms += 1
      expect(await sweeps()).toBe(1)
    })

    it("reports a sweep that failed, and repeats it", async () => {
      const { promoter, database, time, tick, ready } = await stageOf(1_000)
      database.meddle("runs/promote", busy)
      await tick()
      await promoter.swept()
      await expect(tick()).rejects.toThrow("the test refused it")
      time.ms += 5_000
      await tick()
      await promoter.swept()
      expect(await ready()).toBe(1)
    })
  },
  ["PGlite"],
)
