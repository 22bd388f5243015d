import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { CRASH_POINTS, type CrashPoint } from "../../src/testing/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

/** The crash points between the enqueue of a run and its end. The other points have tests of their own. */
const ON_THE_WAY: readonly CrashPoint[] = [
  "enqueue.written",
  "claim.taken",
  "attempt.ended",
  "settle.written",
]

describe("a process that dies", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it.each(ON_THE_WAY)("at %s loses nothing and settles once", async (point) => {
    let executed = 0
    const job = defineJob({
      name: "counted",
      run: async () => {
        executed += 1
        return "done"
      },
    })
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    app.crashAt(point)
    // A caller in a process that dies gets no answer; the run exists all the same.
    void app.enqueue(job)
    if (point !== "enqueue.written") await app.until("run.enqueued")
    await app.drain()
    await app.crashed()
    await app.restart()
    await app.clock.advance("61s")

    const { run: id } = await app.until(point === "enqueue.written" ? "attempt.finished" : "run.enqueued")
    expect(await app.runs.wait(id)).toMatchObject({ result: "done" })
    const attempts = await app.runs.attempts(id)
    expect(attempts.filter(({ runState }) => runState === "succeeded")).toHaveLength(1)
    // Each execution has a cause: it succeeded, or its process was lost.
    const lost = attempts.filter(({ outcome }) => outcome === "lost").length
    expect(executed).toBeLessThanOrEqual(1 + lost)
    expect(lost).toBe(point === "claim.taken" || point === "attempt.ended" ? 1 : 0)
  })

  it("between marking a lease dead and moving its runs leaves the runs to the next reaper", async () => {
    const job = defineJob({ name: "orphan", run: async () => "done" })
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    app.crashAt("claim.taken")
    const run = await app.enqueue(job)
    await app.drain()
    await app.restart()
    app.crashAt("reap.marked")
    await app.clock.advance("61s")
    await app.crashed()
    await app.restart()
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ result: "done" })
  })

  it("between cancelling a run and reporting it leaves the run cancelled", async () => {
    const job = defineJob({ name: "unwanted", run: async () => "done" })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    app.crashAt("cancel.written")
    void app.runs.cancel(run.id, { actor: "ada", reason: "a mistake" })
    await app.crashed()
    await app.restart()
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ state: "cancelled" })
    expect(app.events.filter(({ type }) => type === "attempt.started")).toEqual([])
  })

  it("between counting the room under a limit and admitting leaves the room to the next process", async () => {
    const job = defineJob({ name: "one-by-one", concurrency: 1, run: async () => "done" })
    await using app = await kit.app({ jobs: [job] })
    app.crashAt("admit.counted")
    void app.enqueue(job)
    const { run } = await app.until("run.enqueued")
    await app.drain()
    await app.crashed()
    await app.restart()
    await app.drain()
    expect(await app.runs.wait(run)).toMatchObject({ result: "done" })
  })

  it.each<[CrashPoint, number]>([
    ["schedule.read", 0],
    ["schedule.decided", 0],
    ["schedule.fired", 0],
    ["schedule.committed", 1],
  ])("at %s of a schedule leaves one run for its occurrence", async (point, made) => {
    const ran: unknown[] = []
    const job = defineJob({
      name: "nightly",
      run: async (_input, ctx) => {
        ran.push(ctx.occurrence?.toISOString())
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z" })
    await app.schedules.create({ name: "nightly", job, every: "10m", overlap: "allow" })
    app.crashAt(point)
    await app.clock.advance("10m")
    await app.crashed()
    await app.restart()
    expect((await app.schedules.get("nightly"))?.fired).toBe(made)
    await app.drain()
    expect(ran).toEqual(["2026-03-02T09:10:00.000Z"])
    expect(await app.schedules.fires("nightly")).toMatchObject({
      fires: [{ outcome: "fired", state: "succeeded" }],
    })
  })

  it("is tested at every crash point", () => {
    const schedule = ["schedule.read", "schedule.decided", "schedule.fired", "schedule.committed"]
    const elsewhere = [
      ...schedule,
      "backfill.committed",
      "reap.marked",
      "cancel.written",
      "pause.written",
      "override.written",
      "replay.committed",
      "discard.committed",
      ...["bulk.taken", "bulk.applied", "bulk.noted", "bulk.committed"],
      "admit.counted",
      "migrate.applied",
    ]
    expect([...ON_THE_WAY, ...elsewhere].sort()).toEqual([...CRASH_POINTS].sort())
  })
})
