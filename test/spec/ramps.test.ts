/** A pause that is resumed with a ramp: its runs return evenly over the time of the ramp. */
import { describe, expect, it } from "vitest"
import { list } from "../../src/operations/pauses/list.ts"
import { pause } from "../../src/operations/pauses/pause.ts"
import { resume } from "../../src/operations/pauses/resume.ts"
import type { PauseKind } from "../../src/queue/pause-kind.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { describeEngines, type Engine } from "../support/engines.ts"
import { addRuns, addWorker, census, moveAll, openStage, watchMover } from "../support/parking.ts"

const ada = { actor: "ada", reason: "the provider is down" }
const bob = { actor: "bob", reason: "it is up again" }
const TEN_MINUTES = 600_000
const RUNS = 600

const paused = (runtime: Runtime, kind: PauseKind, name: string) =>
  pause(runtime, { kind, name, by: ada, until: null, forMs: null, jobs: new Set(["greet"]) })
const resumed = (runtime: Runtime, kind: PauseKind, name: string, rampMs: number | null = TEN_MINUTES) =>
  resume(runtime, { kind, name, by: bob, rampMs })

/** 600 runs of a paused thing, all parked. */
async function openPaused(engine: Engine, kind: PauseKind, name: string) {
  const stage = await openStage(engine)
  await addWorker(stage.database)
  await addRuns(stage.database, RUNS, { tenant: "acme" })
  const watched = watchMover(stage.runtime)
  await paused(stage.runtime, kind, name)
  await moveAll(watched.mover)
  const ready = async () => (await census(stage.database))["ready greet"] ?? 0
  return { ...stage, ...watched, ready }
}

describeEngines("a ramp", (engine) => {
  describe.each([
    ["job", "greet"],
    ["pool", "default"],
    ["tenant", "acme"],
    ["everything", ""],
  ] as const)("of a %s", (kind, name) => {
    it("returns as many runs as the part of its time that has passed, and then ends", async () => {
      const {
        runtime,

        clock,
        mover,
        ready,
        events,
        resumed: told,
      } = await openPaused(engine, kind, name)
      expect((await resumed(runtime, kind, name)).answer).toBe(true)
      expect(await ready()).toBe(0)
      await moveAll(mover)
      expect(events).toMatchObject([{ type: "pause.ended", kind, name, because: "resumed", ...bob }])
      const ramp = { until: new Date("2026-03-01T09:10Z"), parked: RUNS, released: 0 }
      expect(await list(runtime)).toMatchObject([{ kind, ramp, ...bob }])
      for (const [at, most] of [
        ["2026-03-01T09:00:01Z", 1],
        ["2026-03-01T09:01Z", 60],
        ["2026-03-01T09:05Z", 300],
        ["2026-03-01T09:09:59Z", 599],
      ] as const) {
        await clock.set(at)
        await moveAll(mover)
        expect(await ready()).toBe(most)
      }
      await clock.set("2026-03-01T09:10Z")
      for (let moves = 0; moves < 2; moves += 1) await moveAll(mover)
      expect(await ready()).toBe(RUNS)
      expect(await list(runtime)).toEqual([])
      expect(told()).toBe(1)
    })

    it("is stopped by another pause, and cut short by another resume", async () => {
      const { runtime, clock, mover, ready } = await openPaused(engine, kind, name)
      await resumed(runtime, kind, name)
      await moveAll(mover)
      await clock.set("2026-03-01T09:05Z")
      await moveAll(mover)
      expect((await paused(runtime, kind, name)).answer).toBe(true)
      await moveAll(mover)
      await clock.set("2026-03-01T09:20Z")
      await moveAll(mover)
      expect(await ready()).toBe(0)
      await resumed(runtime, kind, name)
      await moveAll(mover)
      expect((await resumed(runtime, kind, name, null)).answer).toBe(true)
      await moveAll(mover)
      expect(await ready()).toBe(RUNS)
      expect((await resumed(runtime, kind, name)).answer).toBe(false)
    })
  })

  it("begins when all that is ready is parked, and leaves runs alone that come later", async () => {
    const { runtime, database, clock, mover, ready } = await openPaused(engine, "pool", "default")
    await addRuns(database, 1_400)
    await resumed(runtime, "pool", "default")
    expect(await mover.move()).toBe("parking")
    expect((await list(runtime))[0]).not.toHaveProperty("ramp")
    await moveAll(mover)
    expect((await list(runtime))[0]?.ramp).toMatchObject({ parked: 2_000 })
    await addRuns(database, 5)
    await clock.set("2026-03-01T09:01Z")
    await moveAll(mover)
    expect(await ready()).toBe(205)
  })

  it("of nothing ends at once", async () => {
    const { runtime } = await openStage(engine)
    const { mover, events } = watchMover(runtime)
    await paused(runtime, "pool", "empty")
    await resumed(runtime, "pool", "empty")
    await moveAll(mover)
    expect(await list(runtime)).toEqual([])
    expect(events).toMatchObject([{ type: "pause.ended", because: "resumed" }])
  })

  it.skipIf(engine.lacks.includes("connections"))(
    "keeps its pace with several processes, and goes on when the one that began it is gone",
    async () => {
      const { runtime, database, clock, mover, ready } = await openPaused(engine, "job", "greet")
      await resumed(runtime, "job", "greet")
      await moveAll(mover)
      const others = await Promise.all(
        Array.from({ length: 3 }, async () =>
          watchMover({ ...runtime, database: await engine.open(database.schema) }),
        ),
      )
      await clock.set("2026-03-01T09:05Z")
      await Promise.all(others.map(({ mover: other }) => other.move()))
      for (const { mover: other } of others) await moveAll(other)
      expect(await ready()).toBe(300)
    },
  )
})
