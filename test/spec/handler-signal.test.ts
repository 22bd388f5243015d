/** The signal of a handler: why it aborts, and what happens to a handler that ignores it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { AttemptAborted, defineJob, type JobContext } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

/** A job that does what the test says with its context. */
function jobOf<T>(run: (ctx: JobContext) => Promise<T> | T, settings = {}) {
  return defineJob({
    name: "watched",
    retry: { attempts: 3, delay: 0 },
    ...settings,
    run: (_: undefined, ctx) => run(ctx),
  })
}

describe("the signal of a handler", () => {
  /** A handler that obeys its signal, or ignores it until the test lets it go. */
  function listener({ obeys }: { obeys: boolean }) {
    const gate = createGate()
    const reasons: AttemptAborted[] = []
    const job = jobOf(
      ({ signal }) =>
        new Promise<string>((resolve, reject) => {
          void gate.opened.then(() => resolve("too late"))
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason)
            if (obeys) reject(signal.reason)
          })
        }),
      { retry: { attempts: 1 } },
    )
    return { gate, reasons, job }
  }

  it.each([
    ["ATTEMPT_TIMEOUT", "20ms"],
    ["RUN_CANCELLED", undefined],
    ["LEASE_LOST", undefined],
    ["STOPPING", undefined],
  ] as const)("aborts with %s as its reason", async (code, timeout) => {
    const { reasons, job } = listener({ obeys: true })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job, undefined, { ...(timeout && { timeout }) })
    await app.tick()
    if (code === "RUN_CANCELLED") await app.runs.cancel(run.id, by)
    if (code === "LEASE_LOST") await app.stealLease().then(() => app.tick())
    if (code === "STOPPING") await app.stop({ grace: 0 })
    await vi.waitUntil(() => reasons.length > 0, { timeout: 10_000 })
    expect(reasons).toHaveLength(1)
    expect(reasons[0]).toBeInstanceOf(AttemptAborted)
    expect(reasons[0]).toMatchObject({ code, runId: run.id })
    expect(reasons[0]?.message).toContain(code === "ATTEMPT_TIMEOUT" ? "20 ms" : "")
  })

  it("is aborted also for a handler that first reads it afterwards", async () => {
    const gate = createGate()
    const seen: unknown[] = []
    const job = jobOf(async (ctx) => {
      await gate.opened
      seen.push(ctx.signal.aborted, (ctx.signal.reason as AttemptAborted).code)
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    await app.runs.cancel(run.id, by)
    gate.open()
    await app.drain()
    expect(seen).toEqual([true, "RUN_CANCELLED"])
  })

  it.each([
    ["cancelled", "RUN_CANCELLED"],
    ["lost", "RUN_DEAD"],
  ] as const)(
    "that is ignored after the run was %s is reported, and the late result changes nothing",
    async (because, end) => {
      const { gate, job } = listener({ obeys: false })
      const server = await createWatchedKit(SERVER_URLS.postgres18)
      onTestFinished(() => server.close())
      await using app = await server.app({ jobs: [job] })
      const run = await app.enqueue(job)
      await app.tick()
      if (because === "cancelled") await app.runs.cancel(run.id, by)
      else {
        await app.stealLease()
        await app.tick()
        // Another worker executes the run meanwhile.
        const failing = jobOf(() => Promise.reject(new Error("elsewhere")), { retry: { attempts: 1 } })
        await using other = await server.beside(app, { jobs: [failing] })
        await other.drain()
      }
      expect(await app.until("attempt.overran")).toMatchObject({ run: run.id, because })
      await expect(run.result()).rejects.toMatchObject({ code: end })
      gate.open()
      await app.drain()
      await expect(run.result()).rejects.toMatchObject({ code: end })
      expect((await app.runs.attempts(run.id)).filter(({ outcome }) => outcome === "succeeded")).toEqual([])
    },
  )
})
