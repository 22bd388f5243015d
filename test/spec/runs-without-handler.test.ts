/** What happens to runs whose job no live worker knows. */
import { describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { createTestKit } from "../../src/testing/index.ts"
import { describeEngines } from "../support/engines.ts"
import { linesOf } from "../support/log-lines.ts"
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
import { execute } from "../support/sql.ts"
import { watchDatabase } from "../support/watched-database.ts"

const MANY = 20_000

describeEngines("a run that no live worker can execute", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("parks after a minute, and returns when a worker can execute it", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await addRuns(database, 2, { job: "unknown" })
    const { mover, ready } = watchMover(runtime)
    await clock.set("2026-03-01T09:01:00Z")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "ready unknown": 2 })
    await clock.set("2026-03-01T09:01:01Z")
    await moveAll(mover)
    expect(await census(database)).toEqual({ "handler unknown": 2 })
    await clock.set("2026-03-01T10:00:00Z")
    await addWorker(database, { jobs: ["unknown"] })
    await moveAll(mover)
    expect(await census(database)).toEqual({ "ready unknown": 2 })
    const rank = BigInt(Date.parse("2026-03-01T10:00Z")) * 1_000n
    expect(ready).toEqual([{ pool: "default", solo: false, priority: 0, rank }])
  })

  it("is looked for some time after a start, and less often where the look takes long", async () => {
    const runtime = await engine.migrated()
    const database = watchDatabase(runtime.database)
    let nowMs = 0
    const { mover } = watchMover({ ...runtime, database, monotonicMs: () => nowMs, random: () => 0.5 })
    const { signal } = new AbortController()
    const looks = async () => {
      await mover.tick(signal)
      return database.count("runs/park-unhandled")
    }
    /** The next look. */
    const takes = (ms: number) =>
      database.meddle("runs/park-unhandled", async (run) => {
        nowMs += ms
        return run()
      })
    expect(await looks()).toBe(0)
    nowMs = 29_999
    expect(await looks()).toBe(0)
    nowMs = 30_000
    expect(await looks()).toBe(1)
    expect(await looks()).toBe(2)
    // A look that takes long is repeated after fifty times as long, and everything else goes on meanwhile.
    takes(2_000)
    expect(await looks()).toBe(3)
    nowMs += 99_999
    expect(await mover.tick(signal)).toBe(5_000)
    expect(await looks()).toBe(3)
    nowMs += 1
    expect(await looks()).toBe(4)
    // Once an hour Carillon looks for such runs in any case.
    takes(100_000)
    expect(await looks()).toBe(5)
    nowMs += 3_599_999
    expect(await looks()).toBe(5)
    nowMs += 1
    expect(await looks()).toBe(6)
  })

  it("moves a bounded piece at a time, there and back: 20,000 of them behind 4,000 of others", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await addWorker(database, { leaseMs: 3_600_000 })
    await addRuns(database, 4_000)
    await clock.set("2026-03-01T09:00:01Z")
    await addRuns(database, MANY, { job: "unknown" })
    await clock.set("2026-03-01T09:10:00Z")
    const { mover, events } = watchMover(runtime)
    expect(await moveAll(mover)).toBe(MANY / 1_000 + 1)
    expect(events).toEqual([
      { type: "runs.unhandled", jobs: [{ job: "unknown", pool: "default", runs: MANY }] },
    ])
    expect(await census(database)).toEqual({ "ready greet": 4_000, "handler unknown": MANY })
    await addWorker(database, { jobs: ["unknown"] })
    expect(await moveAll(mover)).toBe(MANY / 1_000 + 1)
    expect(await census(database)).toEqual({ "ready greet": 4_000, "ready unknown": MANY })
  })

  itWithConnections(
    "is moved by several processes at once, without loss and without repetition",
    async () => {
      const { runtime, database, clock } = await openStage(engine)
      for (const priority of [0, 1, 2]) await addRuns(database, 2_000, { priority })
      await clock.set("2026-03-01T09:10:00Z")
      const movers = await Promise.all(
        Array.from({ length: 4 }, async () =>
          watchMover({ ...runtime, database: await engine.open(database.schema) }),
        ),
      )
      const moveTogether = async () => {
        for (let more = true; more; )
          more = (await Promise.all(movers.map((each) => each.mover.move()))).some(
            (left) => left !== "nothing",
          )
      }
      await moveTogether()
      expect(await census(database)).toEqual({ "handler greet": 6_000 })
      await addWorker(database)
      await moveTogether()
      expect(await census(database)).toEqual({ "ready greet": 6_000 })
    },
  )

  it("is returned by the next process, when the one that parked it is gone", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await addRuns(database, 3)
    await clock.set("2026-03-01T09:10:00Z")
    await moveAll(watchMover(runtime).mover)
    await addWorker(database)
    await moveAll(watchMover({ ...runtime, database: await engine.open(database.schema) }).mover)
    expect(await census(database)).toEqual({ "ready greet": 3 })
  })

  it("of a paused job comes to rest, whichever of the two ends first", async () => {
    const { runtime, database, clock } = await openStage(engine)
    await addRuns(database, 2)
    await clock.set("2026-03-01T09:10:00Z")
    const { mover } = watchMover(runtime)
    await moveAll(mover)
    await pauseBy(database, "job", "greet")
    const lease = await addWorker(database)
    for (const _ of [1, 2, 3]) await moveAll(mover)
    expect(await census(database)).toEqual({ "pause greet": 2 })
    await execute(database, `update {workers} set dead = true, expires_at = {now} where lease = '${lease}'`)
    await resumeBy(database, "job", "greet")
    await moveAll(mover)
    await clock.set("2026-03-01T09:20:00Z")
    for (const _ of [1, 2, 3]) await moveAll(mover)
    expect(await census(database)).toEqual({ "handler greet": 2 })
  })

  describe("is reported", () => {
    const told = (events: readonly CarillonEvent[]) =>
      events.map((event) => (event.type === "runs.unhandled" ? event.jobs : event))

    it("with its job, its pool and the number of such runs, and never when there are none", async () => {
      const { runtime, database, clock } = await openStage(engine)
      const { mover, events } = watchMover(runtime)
      await addWorker(database, { leaseMs: 3_600_000 })
      await addRuns(database, 2)
      await moveAll(mover)
      expect(events).toEqual([])
      await addRuns(database, 3, { job: "a" })
      await addRuns(database, 1, { job: "a", pool: "other" })
      await addRuns(database, 1, { job: "b" })
      await clock.set("2026-03-01T09:10:00Z")
      await moveAll(mover)
      expect(told(events)).toEqual([
        [
          { job: "a", pool: "default", runs: 3 },
          { job: "a", pool: "other", runs: 1 },
          { job: "b", pool: "default", runs: 1 },
        ],
      ])
      const lines = linesOf(events)
      expect(lines).toEqual([
        "warn: runs wait for a worker that can execute them: " +
          "a in pool default (3 runs), a in pool other (1 run), b in pool default (1 run)",
      ])
    })

    it("again after ten minutes while it waits, and earlier only for another job", async () => {
      const { runtime, database, clock } = await openStage(engine)
      let nowMs = 0
      const { mover, events } = watchMover({ ...runtime, monotonicMs: () => nowMs })
      await addRuns(database, 1, { job: "a" })
      await clock.set("2026-03-01T09:10:00Z")
      await moveAll(mover)
      nowMs = 300_000
      await addRuns(database, 2, { job: "a" })
      await addRuns(database, 1, { job: "b" })
      await clock.set("2026-03-01T09:20:00Z")
      await moveAll(mover)
      nowMs = 599_999
      await moveAll(mover)
      const [a, b] = [
        { job: "a", pool: "default" },
        { job: "b", pool: "default", runs: 1 },
      ]
      expect(told(events)).toEqual([[{ ...a, runs: 1 }], [b]])
      nowMs = 600_000
      await moveAll(mover)
      expect(told(events).slice(2)).toEqual([[{ ...a, runs: 3 }]])
      nowMs = 10_000_000
      await addWorker(database, { jobs: ["a", "b"] })
      await moveAll(mover)
      expect(events).toHaveLength(3)
    })
  })
})

it("an application reports runs that it enqueued and no worker can execute", async () => {
  await using kit = await createTestKit()
  await using app = await kit.app({ jobs: [defineJob({ name: "known", run: async () => {} })] })
  const run = await app.enqueue(defineJob({ name: "unknown", run: async () => {} }))
  await app.clock.advance("60s")
  expect(app.events.map(({ type }) => type)).not.toContain("runs.unhandled")
  await app.clock.advance("1s")
  const { jobs } = await app.until("runs.unhandled")
  expect(jobs).toEqual([{ job: "unknown", pool: "default", runs: 1 }])
  expect(await app.runs.get(run.id)).toMatchObject({ state: "parked", parkedFor: "handler" })
})
