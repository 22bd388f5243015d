import { describe, expect, it } from "vitest"
import type { Database } from "../../src/store/database.ts"
import { parkPausedJobs } from "../../src/store/runs/park-paused-jobs.ts"
import { parkPausedPools } from "../../src/store/runs/park-paused-pools.ts"
import { parkUnhandled } from "../../src/store/runs/park-unhandled.ts"
import { unparkHandled } from "../../src/store/runs/unpark-handled.ts"
import { unparkResumed } from "../../src/store/runs/unpark-resumed.ts"
import { describeEngines } from "../support/engines.ts"
import { addRuns, addWorker, census, openStage, pauseBy, resumeBy } from "../support/parking.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

/** Larger bounds than any test reaches. */
const WIDE = { lanes: 100, depth: 10_000, limit: 10_000 }
const OLD = { ...WIDE, afterMs: 60_000 }
const NINE_O_CLOCK = BigInt(Date.parse("2026-03-01T09:00Z")) * 1_000n

const limitsOf = async (database: Database) =>
  (await rowsOf(database, "select distinct admitted from {run_limits}")).map(({ admitted }) => admitted)

describeEngines("ready runs", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("of what is paused", () => {
    it("are parked by their job, in every pool and lane, and no others", async () => {
      const { database } = await openStage(engine)
      for (const lane of [{}, { pool: "a" }, { pool: "z" }, { priority: 5 }, { priority: -5, solo: true }]) {
        await addRuns(database, 3, lane)
        await addRuns(database, 2, { ...lane, job: "other" })
      }
      await addRuns(database, 1, { stage: "waiting" })
      await pauseBy(database, "job", "greet")
      await pauseBy(database, "pool", "other")
      expect(await database.run(parkPausedJobs, WIDE)).toEqual([{ runs: 15, found: 15, limit_keys: null }])
      expect(await census(database)).toEqual({ "pause greet": 15, "ready other": 10, "waiting greet": 1 })
    })

    it("are parked by their pool, whatever their job and lane, and no others", async () => {
      const { database } = await openStage(engine)
      for (const lane of [{}, { job: "a" }, { priority: 5 }, { solo: true }]) await addRuns(database, 3, lane)
      await addRuns(database, 2, { pool: "other", job: "default" })
      await pauseBy(database, "pool", "default")
      await pauseBy(database, "job", "other")
      expect(await database.run(parkPausedPools, WIDE)).toEqual([{ runs: 12, found: 12, limit_keys: null }])
      expect(await census(database)).toEqual({ "pause a": 3, "pause greet": 9, "ready default": 2 })
    })

    it("are looked for at the head of a few lanes, fewer each time", async () => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 3, { job: "other" })
      await clock.set("2026-03-01T09:01:00Z")
      await addRuns(database, 5)
      await addRuns(database, 5, { pool: "second" })
      await pauseBy(database, "job", "greet")
      const moved = async (walk: object) =>
        (await database.run(parkPausedJobs, { ...WIDE, ...walk }))[0]?.runs
      expect(await moved({ lanes: 1, depth: 3 })).toBe(0)
      expect(await moved({ lanes: 1, depth: 5 })).toBe(2)
      expect(await moved({ lanes: 1, depth: 5 })).toBe(2)
      expect(await moved({ lanes: 1 })).toBe(1)
      expect(await moved({ lanes: 1 })).toBe(0)
      expect(await moved({ limit: 4 })).toBe(4)
      expect(await moved({})).toBe(1)
    })

    it("return when neither their job nor their pool is paused, at the rank of that moment", async () => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 3, { priority: 7 })
      for (const kind of ["job", "pool"] as const)
        await pauseBy(database, kind, kind === "job" ? "greet" : "default")
      await database.run(parkPausedPools, WIDE)
      for (const [kind, name] of [
        ["job", "greet"],
        ["pool", "default"],
      ] as const) {
        expect(await database.run(unparkResumed, WIDE)).toEqual([])
        await resumeBy(database, kind, name)
      }
      await clock.set("2026-03-01T10:00Z")
      expect(await database.run(unparkResumed, { limit: 2 })).toEqual([
        {
          state: "ready",
          pool: "default",
          solo: false,
          priority: 7,
          rank: NINE_O_CLOCK + 3_600_000_000n,
          runs: 2,
          found: 2,
          limit_keys: null,
        },
      ])
      expect(await database.run(unparkResumed, WIDE)).toMatchObject([{ runs: 1 }])
      const rows = await rowsOf(
        database,
        "select distinct {schema}.state(runs), parked_for, rank / 1000 as ms from {runs}",
      )
      expect(rows).toEqual([
        { state: "ready", parked_for: null, ms: Number(NINE_O_CLOCK / 1_000n) + 3_600_000 },
      ])
    })

    it("return in their old order, piece by piece", async () => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 5)
      // Not in the order in which they lie in the table.
      await execute(database, "update {runs} set rank = 2 * (select max(rank) from {runs}) - rank")
      const inOrder = "select id from {runs} order by rank"
      const before = await rowsOf(database, inOrder)
      await pauseBy(database, "job", "greet")
      await database.run(parkPausedJobs, WIDE)
      await resumeBy(database, "job", "greet")
      for (const at of ["10:00", "10:01"]) {
        await clock.set(`2026-03-01T${at}Z`)
        await database.run(unparkResumed, { limit: 3 })
      }
      expect(await census(database)).toEqual({ "ready greet": 5 })
      expect(await rowsOf(database, inOrder)).toEqual(before)
    })

    it("return although others that were parked before them stay", async () => {
      const { database } = await openStage(engine)
      for (const job of ["a", "b", "c"]) {
        await addRuns(database, 2, { job })
        await pauseBy(database, "job", job)
      }
      await database.run(parkPausedJobs, WIDE)
      await resumeBy(database, "job", "b")
      await database.run(unparkResumed, WIDE)
      expect(await census(database)).toEqual({ "pause a": 2, "pause c": 2, "ready b": 2 })
    })
  })

  describe("without a handler", () => {
    it("are parked once they have been ready for longer than that, and no others", async () => {
      const { database, clock } = await openStage(engine)
      await addWorker(database, { leaseMs: 600_000 })
      await addRuns(database, 3)
      await addRuns(database, 2, { job: "unknown" })
      await addRuns(database, 2, { pool: "unserved" })
      await clock.set("2026-03-01T09:00:30Z")
      await addRuns(database, 1, { job: "unknown" })
      await clock.set("2026-03-01T09:01:00Z")
      expect(await database.run(parkUnhandled, OLD)).toMatchObject([{ runs: 0 }])
      await clock.set("2026-03-01T09:01:00.001Z")
      expect(await database.run(parkUnhandled, OLD)).toMatchObject([{ runs: 4 }])
      expect(await census(database)).toEqual({
        "handler greet": 2,
        "handler unknown": 2,
        "ready greet": 3,
        "ready unknown": 1,
      })
    })

    it.each([
      ["lives", { leaseMs: 600_000 }, "ready"],
      ["is dead, its lease over", { dead: true }, "handler"],
      ["has stopped just now, its lease not over yet", { dead: true, leaseMs: 600_000 }, "ready"],
      ["is silent, but not marked dead", {}, "ready"],
      ["has no handler for them", { jobs: ["other"], leaseMs: 600_000 }, "handler"],
      ["does not serve their pool", { pools: ["other"], leaseMs: 600_000 }, "handler"],
      ["is of a version that names no jobs", { jobs: [], leaseMs: 600_000 }, "ready"],
      ["is such a one and serves other pools", { jobs: [], pools: ["other"], leaseMs: 600_000 }, "handler"],
    ])("are those whose only worker %s: %j", async (_, worker, place) => {
      const { database, clock } = await openStage(engine)
      await addWorker(database, worker)
      await addRuns(database, 2)
      await clock.set("2026-03-01T09:02:00Z")
      await database.run(parkUnhandled, OLD)
      expect(await census(database)).toEqual({ [`${place} greet`]: 2 })
      await database.run(unparkHandled, WIDE)
      expect(await census(database)).toEqual({ [`${place} greet`]: 2 })
    })

    it.each([
      ["is dead", { dead: true, leaseMs: 600_000 }],
      ["has not been heard of", { leaseMs: 0 }],
    ])("do not return for a worker that %s", async (_, worker) => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 2)
      await clock.set("2026-03-01T09:02:00Z")
      await database.run(parkUnhandled, OLD)
      await addWorker(database, worker)
      expect(await database.run(unparkHandled, WIDE)).toEqual([])
    })

    it("return when a worker can execute them, at the rank of that moment, while others wait on", async () => {
      const { database, clock } = await openStage(engine)
      for (const job of ["a", "b", "c"]) await addRuns(database, 2, { job })
      await clock.set("2026-03-01T09:02:00Z")
      await database.run(parkUnhandled, OLD)
      await addWorker(database, { jobs: ["b"] })
      expect(await database.run(unparkHandled, WIDE)).toMatchObject([
        { pool: "default", rank: NINE_O_CLOCK + 120_000_000n, runs: 2 },
      ])
      expect(await census(database)).toEqual({ "handler a": 2, "handler c": 2, "ready b": 2 })
    })
  })

  describe("that are under limits", () => {
    it("give up their places when they are parked, and stand in line again when they return", async () => {
      const { database, clock } = await openStage(engine)
      const both = { solo: true, limits: ["tenant:1", "job"] }
      await addRuns(database, 2, both)
      await addRuns(database, 1, { ...both, job: "other", limits: ["job"] })
      await pauseBy(database, "job", "greet")
      const [parked] = await database.run(parkPausedJobs, WIDE)
      expect(JSON.parse(parked?.limit_keys ?? "")).toEqual(["job", "tenant:1"])
      const places = "select count(admitted)::int as held, count(*)::int as of from {run_limits}"
      expect(await rowsOf(database, places)).toEqual([{ held: 1, of: 5 }])
      await clock.set("2026-03-01T10:00Z")
      await resumeBy(database, "job", "greet")
      const back = await database.run(unparkResumed, WIDE)
      expect(back).toMatchObject([{ state: "parked", runs: 2 }])
      expect(JSON.parse(back[0]?.limit_keys ?? "")).toEqual(["job", "tenant:1"])
      expect(await census(database)).toEqual({ "limit greet": 2, "ready other": 1 })
      const line = await rowsOf(
        database,
        "select distinct rank from {run_limits} where not admitted order by rank",
      )
      const ten = Number(NINE_O_CLOCK) + 3_600_000_000
      expect(line).toEqual([{ rank: ten }, { rank: ten + 1 }])
    })

    it("do the same when they wait for a worker", async () => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 2, { limits: ["job"] })
      await clock.set("2026-03-01T10:00Z")
      await database.run(parkUnhandled, OLD)
      expect(await limitsOf(database)).toEqual([null])
      await addWorker(database)
      await database.run(unparkHandled, WIDE)
      expect(await limitsOf(database)).toEqual([false])
      expect(await census(database)).toEqual({ "limit greet": 2 })
    })
  })

  describe("that another transaction locks", () => {
    itWithConnections("are skipped without waiting", async () => {
      const { database, clock } = await openStage(engine)
      await addRuns(database, 4)
      await clock.set("2026-03-01T09:02:00Z")
      const held = "select from {runs} order by rank limit 1 for update"
      const parkOthers = async (statement: typeof parkPausedJobs | typeof parkPausedPools) => {
        const holder = await hold(database, held)
        expect(await database.run(statement, WIDE)).toMatchObject([{ runs: 3 }])
        await holder.release()
        await execute(database, "delete from {pauses}; update {runs} set stage = 'queued', parked_for = null")
      }
      await pauseBy(database, "job", "greet")
      await parkOthers(parkPausedJobs)
      await pauseBy(database, "pool", "default")
      await parkOthers(parkPausedPools)
      const holder = await hold(database, held)
      expect(await database.run(parkUnhandled, OLD)).toMatchObject([{ runs: 3 }])
      await holder.release()
    })

    itWithConnections("and claims before they could be parked, stay claimed", async () => {
      const { database } = await openStage(engine)
      await addRuns(database, 2)
      await pauseBy(database, "job", "greet")
      const holder = await hold(
        database,
        `update {runs} set lease = gen_random_uuid(), claim = 1
         where ctid = (select ctid from {runs} limit 1)`,
      )
      expect(await database.run(parkPausedJobs, WIDE)).toMatchObject([{ runs: 1 }])
      await holder.release()
      expect(await database.run(parkPausedJobs, WIDE)).toMatchObject([{ runs: 0 }])
      expect(await census(database)).toEqual({ "pause greet": 1, "running greet": 1 })
    })
  })
})
