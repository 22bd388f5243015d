/** The line under a limit: which run is admitted when, and that the line forgets no run. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Bury, Snooze } from "../../src/index.ts"
import { breathe, counting, named, numbers, untilAborted } from "../support/counting-job.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

describe("the next run in line", () => {
  it.each([
    ["has failed for good", () => Bury("no"), {}],
    [
      "has failed and waits for its retry",
      () => Promise.reject(new Error("no")),
      { attempts: 2, delay: "1h" },
    ],
    ["has been snoozed", () => Snooze("1h"), {}],
    ["takes too long", untilAborted, { attempts: 2, delay: "1h" }],
  ] as const)("is admitted when the one before %s", async (_, ends, retry) => {
    const { job, order } = counting({ retry, timeout: "30ms" }, (name, signal) =>
      name === "a" ? ends(signal) : undefined,
    )
    await using app = await kit.app({ jobs: [job] })
    const [, second] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.tick()
    await app.until("attempt.finished", ({ run }) => run !== second?.id)
    await app.tick()
    await app.tick()
    await second?.result()
    expect(order).toEqual(["a", "b"])
  })

  it("is joined by a run that comes back from its wait, and never two run at once", async () => {
    const gate = createGate()
    let first = true
    const { job, order, most } = counting({ retry: { attempts: 2, delay: "1m" } }, (name) => {
      if (name === "b") return gate.opened
      if (!first) return "second try"
      first = false
      return Promise.reject(new Error("no"))
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 5 } })
    const [a, b] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.until("attempt.finished")
    await app.tick()
    await app.tick()
    expect(order).toEqual(["a", "b"])
    await app.clock.set(new Date(+(await app.clock.now()) + 61_000))
    await app.tick()
    await app.tick()
    // Its time has come, and its place is taken.
    expect(await app.runs.get(a?.id ?? "")).toMatchObject({ state: "parked", parkedFor: "limit" })
    gate.open()
    await b?.result()
    await app.drain()
    expect(await a?.result()).toBe("second try")
    expect(most()).toBe(1)
  })

  it("is admitted when the one before is cancelled, whether it runs or not", async () => {
    const { job, order } = counting({}, (name, signal) => (name === "a" ? untilAborted(signal) : undefined))
    await using app = await kit.app({ jobs: [job] })
    const [a, b, c] = await app.enqueueMany(job, named(["a", "b", "c"]))
    await app.tick()
    await app.tick()
    await app.runs.cancel(b?.id ?? "", by)
    await app.runs.cancel(a?.id ?? "", by)
    await app.until("attempt.finished", ({ run }) => run === a?.id)
    await app.tick()
    await app.tick()
    await c?.result()
    expect(order).toEqual(["a", "c"])
  })

  it("is not admitted when the one before was lost with its process: that one keeps its place", async () => {
    const { job, order, most } = counting({}, breathe)
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    const [a, b] = await app.enqueueMany(job, named(["a", "b"]))
    app.crashAt("claim.taken")
    await app.drain()
    await app.restart()
    await app.tick()
    expect(order).toEqual([])
    expect(await app.runs.get(b?.id ?? "")).toMatchObject({ state: "parked" })
    await app.clock.advance("61s")
    expect(order).toEqual(["a", "b"])
    expect(most()).toBe(1)
    await app.runs.wait(a?.id ?? "")
  })

  it("is found by the sweep when a process dies between counting and admitting", async () => {
    const { job, order } = counting({})
    await using app = await kit.app({ jobs: [job] })
    app.crashAt("admit.counted")
    const runs = await app.enqueueMany(job, named(["a", "b"]))
    await app.drain()
    await app.crashed()
    await app.restart()
    await app.drain()
    expect(order).toEqual(["a", "b"])
    await Promise.all(runs.map((run) => run.result()))
  })
})

describe("the line", () => {
  it("survives a stop, and so does the place of the running run", async () => {
    const { job, order, most } = counting({}, (name) =>
      order.length === 1 && name === "0" ? new Promise(() => {}) : breathe(),
    )
    await using app = await kit.app({ jobs: [job], pools: { default: 5 } })
    const runs = await app.enqueueMany(job, named(numbers(5)))
    await app.tick()
    await app.tick()
    expect(order).toEqual(["0"])
    await app.stop({ grace: 0 })
    await app.restart()
    await app.drain()
    // The handler was given up and has not returned: its place is held until the lease of its worker is over.
    expect(order).toEqual(["0"])
    await app.clock.advance("61s")
    expect(order).toEqual(["0", ...numbers(5)])
    await Promise.all(runs.map(({ id }) => app.runs.wait(id)))
    // Counted here: the handler that was given up at the stop never ends.
    expect(most()).toBe(2)
  })

  it("does not hold a run before it is due", async () => {
    const { job, order } = counting({})
    await using app = await kit.app({ jobs: [job] })
    const later = await app.enqueue(job, { name: "later" }, { delay: "1h" })
    await app.enqueue(job, { name: "now" })
    expect(await app.runs.get(later.id)).toMatchObject({ state: "waiting" })
    await app.drain()
    expect(order).toEqual(["now"])
    await app.clock.advance("1h")
    expect(order).toEqual(["now", "later"])
  })

  it("leaves no row behind when all its runs have ended", async () => {
    const { job } = counting({})
    await using app = await kit.app({ jobs: [job] })
    await app.enqueueMany(job, named(numbers(5)))
    await app.drain()
    expect(await rowsOf(app.database, "select from {run_limits}")).toEqual([])
  })
})
