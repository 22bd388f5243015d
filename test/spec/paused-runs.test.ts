/** What happens to the runs of what is paused, during the pause and after it. */
import { describe, expect, it } from "vitest"
import type { PauseKind } from "../../src/queue/pause-kind.ts"
import type { Database } from "../../src/store/database.ts"
import { parkPausedPools } from "../../src/store/runs/park-paused-pools.ts"
import { describeEngines } from "../support/engines.ts"
import {
  addRuns,
  addWorker,
  census,
  moveAll,
  openStage,
  pauseBy,
  resumeBy,
  watchMover,
} from "../support/parking.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"

const MANY = 20_000
const BATCH = 1_000

describeEngines("what is paused", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it.each([
    ["job", "greet"],
    ["pool", "default"],
    ["tenant", "acme"],
    ["everything", ""],
  ] as const)(
    "has its runs parked and returned, a bounded piece at a time: 20,000 runs of a %s",
    async (kind, name) => {
      const { runtime, database } = await openStage(engine)
      await addWorker(database, { jobs: ["greet", "other"], pools: ["default", "elsewhere"] })
      await addRuns(database, MANY, { tenant: "acme" })
      const others = kind === "everything" ? {} : { "ready other": 500 }
      if (kind !== "everything") await addRuns(database, 500, { job: "other", pool: "elsewhere" })
      const parked = kind === "tenant" ? "tenant greet" : "pause greet"
      const { mover } = watchMover(runtime)
      await pauseBy(database, kind, name)
      for (let moved = BATCH; moved <= MANY; moved += BATCH) {
        expect(await mover.move()).toBe("parking")
        expect((await census(database))[parked]).toBe(moved)
      }
      expect(await mover.move()).toBe("nothing")
      expect(await census(database)).toEqual({ [parked]: MANY, ...others })

      await resumeBy(database, kind, name)
      for (let moved = BATCH; moved <= MANY; moved += BATCH) {
        expect(await mover.move()).toBe("unparking")
        expect((await census(database))["ready greet"]).toBe(moved)
      }
      expect(await mover.move()).toBe("nothing")
      expect(await census(database)).toEqual({ "ready greet": MANY, ...others })
    },
  )

  itWithConnections(
    "has its runs moved by several processes at once, without loss and without repetition",
    async () => {
      const { runtime, database } = await openStage(engine)
      await addWorker(database)
      for (const priority of [0, 1, 2]) await addRuns(database, 2_000, { priority })
      await addRuns(database, 3_000, { limits: ["some"] })
      const movers = await Promise.all(
        Array.from({ length: 4 }, async () =>
          watchMover({ ...runtime, database: await engine.open(database.schema) }),
        ),
      )
      const moveTogether = async () => {
        for (let more = true; more; ) {
          const left = await Promise.all(movers.map((each) => each.mover.move()))
          more = left.some((each) => each !== "nothing")
        }
      }
      await pauseBy(database, "job", "greet")
      await moveTogether()
      expect(await census(database)).toEqual({ "pause greet": 9_000 })
      await resumeBy(database, "job", "greet")
      await moveTogether()
      expect(await census(database)).toEqual({ "ready greet": 6_000, "limit greet": 3_000 })
    },
  )

  it("parks runs that become ready during the pause", async () => {
    const { runtime, database } = await openStage(engine)
    await addWorker(database)
    await addRuns(database, 2, { stage: "waiting" })
    const { mover } = watchMover(runtime)
    await pauseBy(database, "job", "greet")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "waiting greet": 2 })
    await execute(database, "update {runs} set stage = 'queued'")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "pause greet": 2 })
  })

  it("has its runs returned by the next process, when the one that parked them is gone", async () => {
    const { runtime, database } = await openStage(engine)
    await addWorker(database)
    await addRuns(database, 3)
    await pauseBy(database, "job", "greet")
    await moveAll(watchMover(runtime).mover)
    await resumeBy(database, "job", "greet")
    const restarted = watchMover({ ...runtime, database: await engine.open(database.schema) })
    await moveAll(restarted.mover)
    expect(await census(database)).toEqual({ "ready greet": 3 })
  })

  itWithConnections("leaves no run behind that is being parked during the resume", async () => {
    const { runtime, database } = await openStage(engine)
    await addWorker(database)
    await addRuns(database, 3)
    await pauseBy(database, "pool", "default")
    const parking = await hold(database, (tx) => tx.run(parkPausedPools, { limit: 10 }))
    await resumeBy(database, "pool", "default")
    const { mover } = watchMover(runtime)
    await moveAll(mover)
    await parking.release()
    expect(await census(database)).toEqual({ "pause greet": 3 })
    await moveAll(mover)
    expect(await census(database)).toEqual({ "ready greet": 3 })
  })

  it("wakes every lane that has runs again, with their rank, and every key of a limit", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await addWorker(database)
    await addRuns(database, 2)
    await addRuns(database, 2, { priority: 5, solo: true })
    await addRuns(database, 2, { priority: 9, limits: ["a", "b"] })
    const { mover, ready, limits, resumed } = watchMover(runtime)
    await pauseBy(database, "job", "greet")
    await moveAll(mover)
    expect({ ready, limits: limits.toSorted(), resumed: resumed() }).toEqual({
      ready: [],
      limits: ["a", "b"],
      resumed: 0,
    })
    await clock.set("2026-03-01T10:00Z")
    await resumeBy(database, "job", "greet")
    await moveAll(mover)
    const ten = BigInt(Date.parse("2026-03-01T10:00Z"))
    const lanes = ready.map(({ rank, ...lane }) => ({ ...lane, readyAtMs: rank / 1_000n }))
    expect(lanes).toHaveLength(2)
    expect(lanes).toEqual(
      expect.arrayContaining([
        { pool: "default", solo: false, priority: 0, readyAtMs: ten },
        { pool: "default", solo: true, priority: 5, readyAtMs: ten },
      ]),
    )
    expect(limits.toSorted()).toEqual(["a", "a", "b", "b"])
    expect(resumed()).toBe(1)
  })

  it("reports its end also when it parked nothing, so that claims look again", async () => {
    const { runtime, database, clock } = await openStage(engine)
    const { mover, resumed } = watchMover(runtime)
    for (const name of ["a", "b"]) await pauseBy(database, "job", name)
    await mover.move()
    await mover.move()
    expect(resumed()).toBe(0)
    await resumeBy(database, "job", "a")
    await mover.move()
    expect(resumed()).toBe(1)
    // Resumed and paused again before the next look.
    await resumeBy(database, "job", "b")
    await clock.set("2026-03-01T10:00Z")
    await pauseBy(database, "job", "b")
    await mover.move()
    await mover.move()
    expect(resumed()).toBe(2)
  })

  it("stays parked when it returns from one pause into another", async () => {
    const { runtime, database } = await openStage(engine)
    await addWorker(database)
    await addRuns(database, 2, { tenant: "acme" })
    const { mover } = watchMover(runtime)
    await pauseBy(database, "everything", "")
    await pauseBy(database, "tenant", "acme")
    await pauseBy(database, "job", "greet")
    await moveAll(mover)
    await resumeBy(database, "everything", "")
    await resumeBy(database, "job", "greet")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "tenant greet": 2 })
    await resumeBy(database, "tenant", "acme")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "ready greet": 2 })
  })

  describe("until a given time", () => {
    const paused = (database: Database, kind: PauseKind, name: string, minutes: number) =>
      execute(
        database,
        `insert into {pauses} values
          ('${kind}', '${name}', {now}, 'ada', 'to see', {now} + ${minutes} * interval '1 minute')`,
      )

    it("is resumed then by one of the processes, which tells it", async () => {
      const { runtime, database, clock } = await openStage(engine)
      await addWorker(database)
      await addRuns(database, 3)
      await paused(database, "job", "greet", 60)
      await paused(database, "everything", "", 10)
      await pauseBy(database, "pool", "other")
      const movers = [watchMover(runtime), watchMover(runtime)]
      const moveBoth = async () => {
        for (const { mover } of movers) await moveAll(mover)
      }
      await moveBoth()
      await clock.set("2026-03-01T09:59:59.999Z")
      await moveBoth()
      expect(await census(database)).toEqual({ "pause greet": 3 })
      await clock.set("2026-03-01T10:00Z")
      await moveBoth()
      expect(await census(database)).toEqual({ "ready greet": 3 })
      const over = { type: "pause.ended", because: "over", actor: "carillon", reason: "the pause was over" }
      expect(movers.map(({ events }) => events)).toEqual([
        [
          { ...over, kind: "everything", name: "" },
          { ...over, kind: "job", name: "greet" },
        ],
        [],
      ])
      expect(movers.map(({ ended }) => ended())).toEqual([2, 0])
      expect(movers.map(({ resumed }) => resumed())).toEqual([2, 2])
      const audit =
        "select at, actor, action, subject, reason, before ->> 'actor' as by from {audit} order by at"
      const entry = { actor: "carillon", reason: "the pause was over", by: "ada" }
      expect(await rowsOf(database, audit)).toEqual([
        {
          ...entry,
          at: "2026-03-01T09:59:59.999+00:00",
          action: "everything.resumed",
          subject: "everything",
        },
        { ...entry, at: "2026-03-01T10:00:00+00:00", action: "job.resumed", subject: "job:greet" },
      ])
    })

    it("is looked at when its time has come, not later", async () => {
      const { runtime, database, clock } = await openStage(engine)
      await paused(database, "job", "greet", 10)
      const { mover } = watchMover({ ...runtime, monotonicMs: () => 0 })
      const { signal } = new AbortController()
      expect(await mover.tick(signal)).toBe(5_000)
      await clock.set("2026-03-01T09:09:58.500Z")
      expect(await mover.tick(signal)).toBe(1_500)
    })
  })

  describe("the look for paused runs", () => {
    const { signal } = new AbortController()

    it("repeats at once when another process has just moved what it found: there may be more", async () => {
      const { runtime, database } = await openStage(engine)
      await pauseBy(database, "job", "greet")
      const run: Database["run"] = async (statement, params) => {
        const rows = await database.run(statement, params)
        return statement.name === "runs/park-paused-jobs"
          ? rows.map((row) => ({ ...row, found: BATCH }))
          : rows
      }
      const { mover } = watchMover({ ...runtime, database: { ...database, run }, monotonicMs: () => 0 })
      expect(await mover.tick(signal)).toBe(0)
    })

    it("comes every five seconds, sooner while there is more to move, and seldom when it takes long", async () => {
      const { runtime, database } = await openStage(engine)
      await addWorker(database)
      await addRuns(database, BATCH + 1)
      let nowMs = 0
      let tookMs = 0
      const monotonicMs = () => {
        nowMs += tookMs
        return nowMs
      }
      const { mover } = watchMover({ ...runtime, monotonicMs })
      await pauseBy(database, "job", "greet")
      expect([await mover.tick(signal), await mover.tick(signal)]).toEqual([0, 5_000])
      await resumeBy(database, "job", "greet")
      tookMs = 10
      // Returning runs goes on at once; parking leaves four fifths of the time to others.
      expect(await mover.tick(signal)).toBe(0)
      expect(await mover.tick(signal)).toBe(5_000)
      await pauseBy(database, "job", "greet")
      expect(await mover.tick(signal)).toBe(20 / 0.2 - 20)
      await mover.tick(signal)
      tookMs = 100
      // Three readings: the start, what has been reported, the end.
      expect(await mover.tick(signal)).toBe(200 / 0.02)
      tookMs = 10_000
      expect(await mover.tick(signal)).toBe(60_000)
    })
  })
})
