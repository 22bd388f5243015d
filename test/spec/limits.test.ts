/** Limits: at most this many runs of a job, or of a key, at once. The others park in line, and none is forgotten. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { breathe, counting, named, numbers } from "../support/counting-job.ts"
import { createGate, type Gate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

describe("a job with a limit", () => {
  it("of one never runs two at once, and executes its runs in their order", async () => {
    const { job, order, most } = counting({}, breathe)
    await using app = await kit.app({ jobs: [job], pools: { default: 5 } })
    const runs = await app.enqueueMany(job, named(numbers(20)))
    await app.drain()
    await Promise.all(runs.map((run) => run.result()))
    expect(most()).toBe(1)
    expect(order).toEqual(numbers(20))
  })

  it("of three runs three at once, and never four", async () => {
    const gate = createGate()
    const { job, order, most } = counting({ concurrency: 3 }, () => gate.opened)
    await using app = await kit.app({ jobs: [job], pools: { default: 10 } })
    await app.enqueueMany(job, named(numbers(10)))
    for (let ticks = 0; ticks < 4; ticks += 1) await app.tick()
    expect(order).toHaveLength(3)
    gate.open()
    await app.drain()
    expect(order).toHaveLength(10)
    expect(most()).toBe(3)
  })

  it("shows what its runs wait for", async () => {
    const gate = createGate()
    const { job } = counting({}, () => gate.opened)
    await using app = await kit.app({ jobs: [job] })
    const [first, second] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    expect(await app.runs.get(first?.id ?? "")).toMatchObject({ state: "running" })
    expect(await app.runs.get(second?.id ?? "")).toMatchObject({ state: "parked", parkedFor: "limit" })
    gate.open()
    await app.drain()
  })

  it("has one line for each key, each with a limit of its own", async () => {
    const gates: Record<string, Gate> = { a: createGate(), b: createGate() }
    const { job, order, most } = counting({}, (name) => gates[name.slice(0, 1)]?.opened)
    await using app = await kit.app({ jobs: [job], pools: { default: 10 } })
    const item = (name: string, key: string) => ({ input: { name, key }, concurrencyKey: key })
    await app.enqueueMany(job, [
      item("a1", "a"),
      item("a2", "a"),
      item("a3", "a"),
      item("b1", "b"),
      item("b2", "b"),
    ])
    await app.tick()
    await app.tick()
    expect([...order].sort()).toEqual(["a1", "b1"])
    gates["b"]?.open()
    await app.until("attempt.finished")
    await app.tick()
    await app.tick()
    expect([...order].sort()).toEqual(["a1", "b1", "b2"])
    gates["a"]?.open()
    await app.drain()
    expect(order).toHaveLength(5)
    expect([most("a"), most("b"), most()]).toEqual([1, 1, 2])
  })

  it("shares no line with a job whose name looks like its key", async () => {
    const gate = createGate()
    const one = counting({ name: "mail" }, () => gate.opened)
    const two = counting({ name: "mail:de" }, () => gate.opened)
    await using app = await kit.app({ jobs: [one.job, two.job] })
    await app.enqueue(one.job, { name: "one" }, { concurrencyKey: "de" })
    await app.enqueue(two.job, { name: "two" })
    await app.tick()
    await app.tick()
    expect([...one.order, ...two.order]).toEqual(["one", "two"])
    gate.open()
    await app.drain()
  })

  it("lets higher priorities go first in its line", async () => {
    const { job, order } = counting({})
    await using app = await kit.app({ jobs: [job] })
    await app.jobs.pause("counting", by)
    for (const [name, priority] of [
      ["low", -1],
      ["first", 0],
      ["second", 0],
      ["high", 1],
    ] as const) {
      await app.enqueue(job, { name }, { priority })
      await app.clock.set(new Date(+(await app.clock.now()) + 1))
    }
    await app.jobs.resume("counting", by)
    await app.drain()
    // The very first in line was admitted when it was alone there.
    expect(order.slice(1)).toEqual(["high", "first", "second"])
  })

  it("does not hold up other jobs", async () => {
    const gate = createGate()
    const { job } = counting({}, () => gate.opened)
    const free = defineJob({ name: "free", run: async () => "done" })
    await using app = await kit.app({ jobs: [job, free], pools: { default: 2 } })
    await app.enqueueMany(job, named(numbers(50)))
    const run = await app.enqueue(free)
    await app.tick()
    await app.tick()
    expect(await run.result()).toBe("done")
    gate.open()
    await app.drain()
  })

  it("may be raised by the next version of the code", async () => {
    const gate = createGate()
    const { job, order } = counting({}, () => gate.opened)
    await using app = await kit.app({ jobs: [job] })
    await app.enqueueMany(job, named(numbers(5)))
    const raised = counting({ concurrency: 4 }, () => gate.opened)
    await using next = await kit.beside(app, { jobs: [raised.job] })
    await next.tick()
    await next.tick()
    expect([...order, ...raised.order]).toHaveLength(4)
    gate.open()
    await next.drain()
  })
})

describe("a limit over several processes", () => {
  it("holds for all of them together, and no run is stuck", async () => {
    const server = await createWatchedKit(SERVER_URLS.postgres18)
    const { job, order, most } = counting({ concurrency: 2 }, breathe)
    await using app = await server.app({ jobs: [job], pools: { default: 5 } })
    await using second = await server.beside(app, { jobs: [job], pools: { default: 5 } })
    await using third = await server.beside(app, { jobs: [job], pools: { default: 5 } })
    await Promise.all([app, second, third].map((each) => each.start()))
    const halves = [app, second].map((each) => each.enqueueMany(job, named(numbers(60))))
    const runs = (await Promise.all(halves)).flat()
    await Promise.all(runs.map((run) => run.result()))
    expect(order).toHaveLength(120)
    expect(most()).toBeLessThanOrEqual(2)
  })
})
