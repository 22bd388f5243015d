/** `startWithin`: a run that does not start in time expires. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, Snooze } from "../../src/index.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

/** A job that counts its starts and does what the test says at each. */
function starts(run: (start: number) => unknown = () => "done", settings = {}) {
  let count = 0
  const job = defineJob({
    name: "timely",
    retry: { attempts: 5, delay: "1h" },
    ...settings,
    run: async (): Promise<unknown> => {
      count += 1
      return run(count)
    },
  })
  return { job, count: () => count }
}

const AT = "2026-03-01T09:00Z"
const minutesLater = (minutes: number) => new Date(Date.parse(AT) + minutes * 60_000)

describe("a run with ten minutes to start", () => {
  it("starts at the last moment", async () => {
    const { job } = starts()
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.clock.set(minutesLater(10))
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("expires after that: it never starts, and its waiters are told", async () => {
    const { job, count } = starts()
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.clock.set(new Date(+minutesLater(10) + 1))
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_EXPIRED", runId: run.id })
    expect(count()).toBe(0)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "expired" })
    const attempts = await app.runs.attempts(run.id)
    expect(attempts).toMatchObject([
      { outcome: "expired", runState: "expired", charged: false, error: { code: "RUN_EXPIRED" } },
    ])
    expect(Object.keys(attempts[0] ?? {})).not.toEqual(expect.arrayContaining(["startedAt"]))
    expect(app.events).toContainEqual(
      expect.objectContaining({ type: "attempt.finished", outcome: "expired", runState: "expired" }),
    )
    expect(await rowsOf(app.database, "select from {dead_letters}")).toEqual([])
  })

  it("counts from its due time, not from its enqueue", async () => {
    const { job } = starts()
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { delay: "1h", startWithin: "10m" })
    expect(await app.runs.get(run.id)).toMatchObject({ startBy: minutesLater(70) })
    await app.clock.set(minutesLater(70))
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("does not expire on a retry once it started in time", async () => {
    const { job, count } = starts((start) => (start === 1 ? Promise.reject(new Error("no")) : "done"))
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.drain()
    await app.clock.set(minutesLater(600))
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(count()).toBe(2)
  })

  it("does not expire after a snooze", async () => {
    const { job } = starts((start) => (start === 1 ? Snooze("5h") : "done"))
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.drain()
    await app.clock.set(minutesLater(600))
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("counts as started when its handler was lost with its process", async () => {
    const { job, count } = starts()
    await using app = await kit.app({ jobs: [job], at: AT, lease: "60s" })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    app.crashAt("attempt.ended")
    await app.drain()
    await app.restart()
    await app.clock.set(minutesLater(60))
    await app.drain()
    expect(count()).toBe(2)
    expect(await app.runs.wait(run.id)).toMatchObject({ result: "done" })
  })

  it("expires under a pause or a limit that takes too long", async () => {
    const { job, count } = starts(undefined, { concurrency: 1 })
    await using app = await kit.app({ jobs: [job], at: AT })
    await app.jobs.pause("timely", by)
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.drain()
    await app.clock.set(minutesLater(11))
    await app.jobs.resume("timely", by)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_EXPIRED" })
    expect(count()).toBe(0)
  })

  it("frees its place under a limit when it expires", async () => {
    const { job, count } = starts(undefined, { concurrency: 1 })
    await using app = await kit.app({ jobs: [job], at: AT })
    await app.enqueueMany(job, [{ startWithin: "10m" }, { startWithin: "10m" }, {}])
    await app.clock.set(minutesLater(11))
    await app.drain()
    expect(count()).toBe(1)
    expect(await rowsOf(app.database, "select from {run_limits}")).toEqual([])
  })

  it("is reported as expired to waiters in another process", async () => {
    const { job } = starts()
    await using app = await kit.app({ jobs: [job], at: AT })
    await using other = await kit.beside(app)
    const run = await other.enqueue(job, undefined, { startWithin: "10m" })
    await app.clock.set(minutesLater(11))
    const told = expect(other.runs.wait(run.id)).resolves.toMatchObject({ state: "expired" })
    await app.drain()
    await told
  })

  it("counts as started when a stop gave up its handler", async () => {
    const { job, count } = starts((start) => (start === 1 ? new Promise(() => {}) : "done"))
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await app.tick()
    await app.stop({ grace: 0 })
    await app.restart()
    await app.clock.set(minutesLater(60))
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ result: "done" })
    expect(count()).toBe(2)
  })

  it("still expires after a claim that was given back unstarted", async () => {
    const { job, count } = starts()
    await using app = await kit.app({ jobs: [job], at: AT })
    const run = await app.enqueue(job, undefined, { startWithin: "10m" })
    await execute(app.database, "update {runs} set suspect = true, solo = true")
    // Its start could not be written down, so it did not start.
    app.database.meddle("runs/record-start", async () => Promise.reject(new Error("away")))
    await app.tick()
    await app.until("attempt.finished", ({ outcome }) => outcome === "released")
    await app.clock.set(minutesLater(11))
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_EXPIRED" })
    expect(count()).toBe(0)
  })
})
