/** Handlers that outlive their attempts: a place under a limit stands for a handler, and lost slots are reported. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { defineJob, type JobSettings } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { counting, named } from "../support/counting-job.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn, createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

/** A job whose handlers ignore their signal, and run until the gate opens. */
function deaf(settings: Partial<JobSettings> = {}) {
  const gate = createGate()
  onTestFinished(gate.open)
  return { gate, ...counting({ retry: { attempts: 1 }, ...settings }, () => gate.opened) }
}

async function ticks(app: WatchedApp, count = 4): Promise<void> {
  for (let times = 0; times < count; times += 1) await app.tick()
}

const outcomeOf = async (app: WatchedApp, run: string) =>
  (await app.runs.attempts(run)).map(({ outcome, runState }) => [outcome, runState])

describe("a place under a limit", () => {
  it("is held after a timeout until the handler has returned", async () => {
    const { gate, job, order, most } = deaf({ timeout: "20ms" })
    await using app = await kit.app({ jobs: [job], pools: { default: 6 } })
    const [first, second] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.until("attempt.overran")
    await ticks(app)
    expect(order).toEqual(["a"])
    expect(await app.runs.get(first?.id ?? "")).toMatchObject({ state: "running" })
    gate.open()
    await app.drain()
    expect(order).toEqual(["a", "b"])
    expect(most()).toBe(1)
    expect(await outcomeOf(app, first?.id ?? "")).toEqual([["timed_out", "dead"]])
    expect(await second?.result()).toBeNull()
  })

  it("is held after a cancel until the handler has returned", async () => {
    const { gate, job, order, most } = deaf()
    await using app = await kit.app({ jobs: [job], pools: { default: 6 } })
    const [first] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.runs.cancel(first?.id ?? "", by)
    await ticks(app)
    expect(order).toEqual(["a"])
    gate.open()
    await app.drain()
    expect([order, most()]).toEqual([["a", "b"], 1])
    expect(await outcomeOf(app, first?.id ?? "")).toEqual([["cancelled", "cancelled"]])
  })

  it("is free at the timeout where the job says so", async () => {
    const { gate, job, order } = deaf({ timeout: "20ms", overrun: "free" })
    await using app = await kit.app({ jobs: [job], pools: { default: 6 } })
    const [first] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.until("attempt.finished", ({ run }) => run === first?.id)
    await ticks(app)
    expect(order).toEqual(["a", "b"])
    gate.open()
    await app.drain()
  })

  it("is free when the lease is over, whatever the handler does", async () => {
    const { gate, job, order } = deaf({ timeout: "20ms" })
    await using app = await kit.app({ jobs: [job], pools: { default: 6 } })
    const [first] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.until("attempt.overran")
    await app.stealLease()
    await app.tick()
    expect(await app.until("attempt.fenced")).toMatchObject({ run: first?.id })
    await using other = await kit.beside(app, { jobs: [job] })
    await ticks(other)
    expect(order).toEqual(["a", "a"])
    gate.open()
    await other.drain()
    await app.drain()
  })

  it("is held beyond a stop, until the lease of the process is over", async () => {
    const { gate, job, order } = deaf()
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    const [first] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    await app.stop({ grace: 0 })
    await using other = await kit.beside(app, { jobs: [job], lease: "60s" })
    await ticks(other)
    expect(order).toEqual(["a"])
    await app.clock.set(new Date((await app.clock.now()).getTime() + 61_000))
    await ticks(other)
    expect(order).toEqual(["a", "a"])
    gate.open()
    await other.drain()
    expect(order).toEqual(["a", "a", "b"])
    expect(await outcomeOf(other, first?.id ?? "")).toEqual([
      ["lost", undefined],
      ["succeeded", "succeeded"],
    ])
  })
})

describe("a handler that never returns", () => {
  const hangs = (settings: Partial<JobSettings> = {}) =>
    deaf({ concurrency: undefined as never, timeout: "10ms", retry: { attempts: 2, base: 0 }, ...settings })

  it("does not hold up its run, which uses up its attempts in the same process", async () => {
    const { gate, job, order } = hangs()
    await using app = await kit.app({ jobs: [job], pools: { default: 3 }, overrunGrace: "20ms" })
    const [run] = await app.enqueueMany(job, named(["poison"]))
    await app.tick()
    const stuck = await app.until("worker.stuck", ({ attempt }) => attempt === 1)
    expect(stuck).toMatchObject({ run: run?.id, pool: "default", slots: 3, slotsLost: 1, holdsPlace: false })
    await ticks(app)
    expect(await app.until("worker.stuck", ({ attempt }) => attempt === 2)).toMatchObject({ slotsLost: 2 })
    expect(order).toEqual(["poison", "poison"])
    await expect(run?.result()).rejects.toMatchObject({
      code: "RUN_DEAD",
      cause: { code: "ATTEMPT_TIMEOUT" },
    })
    gate.open()
    await app.until("worker.unstuck", ({ slotsLost }) => slotsLost === 0)
    expect(app.events.filter(({ type }) => type === "worker.stuck")).toHaveLength(2)
    expect(app.events.filter(({ type }) => type === "worker.unstuck")).toHaveLength(2)
    expect(app.events.filter(({ type }) => type === "pool.exhausted")).toEqual([])
  })

  it("is not started beside itself, also if it ran too long before it first waited", async () => {
    const gate = createGate()
    onTestFinished(gate.open)
    const job = defineJob({
      name: "late",
      timeout: "10ms",
      retry: { attempts: 2, base: 0 },
      run: async (_: undefined, ctx) => {
        const untilMs = performance.now() + 30
        while (performance.now() < untilMs);
        await Promise.race([gate.opened, ctx.transaction(async () => {}).catch(() => gate.opened)])
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 3 } })
    const run = await app.enqueue(job)
    await ticks(app, 8)
    expect(await outcomeOf(app, run.id)).toEqual([["timed_out", undefined]])
    gate.open()
    await app.drain()
  })

  it("keeps its slot until it returns: a process without a free slot reports that once, and recovers", async () => {
    const { gate, job, order } = hangs({ retry: { attempts: 1 } })
    const quick = defineJob({ name: "quick", run: async () => "done" })
    await using app = await kit.app({ jobs: [job, quick], pools: { default: 2 }, overrunGrace: "20ms" })
    await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    expect(await app.until("pool.exhausted")).toMatchObject({ pool: "default", slots: 2 })
    const run = await app.enqueue(quick)
    await ticks(app)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "ready" })
    gate.open()
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(order).toEqual(["a", "b"])
    expect(app.events.filter(({ type }) => type === "pool.exhausted")).toHaveLength(1)
  })

  it("under a limit keeps its place, and is reported with it", async () => {
    const { gate, job, order } = deaf({ timeout: "10ms" })
    await using app = await kit.app({ jobs: [job], pools: { default: 2 }, overrunGrace: "20ms" })
    const [first, second] = await app.enqueueMany(job, named(["a", "b"]))
    await app.tick()
    expect(await app.until("worker.stuck")).toMatchObject({ run: first?.id, holdsPlace: true, slotsLost: 1 })
    await ticks(app)
    expect(order).toEqual(["a"])
    gate.open()
    await app.until("attempt.finished", ({ run }) => run === first?.id)
    await app.drain()
    expect(order).toEqual(["a", "b"])
    expect(await second?.result()).toBeNull()
  })

  it("does not keep a process from stopping within its grace", async () => {
    const { job } = hangs({ retry: { attempts: 1 } })
    await using app = await kit.app({ jobs: [job], overrunGrace: "20ms" })
    await app.enqueueMany(job, named(["a"]))
    await app.tick()
    await app.until("worker.stuck")
    await app.stop({ grace: "1h" })
    expect(await app.until("worker.stopped")).toMatchObject({ unfinished: 1 })
  })

  it("ends the process at the last slot of a pool, if the options say so, and all else is given back", async () => {
    const { job } = hangs({ retry: { attempts: 1 }, pool: "hanging" })
    const quick = defineJob({ name: "quick", run: async () => "done" })
    const exits: number[] = []
    const host = { ...createSystemHost(), exit: (code: number) => void exits.push(code) }
    const options = { jobs: [job, quick], pools: { hanging: 1, default: 1 }, overrunGrace: "20ms" } as const
    const { carillon } = carillonOn(SERVER_URLS.postgres18, { ...options, onStuck: "exit" }, host)
    onTestFinished(() => carillon.stop({ grace: 0 }))
    await carillon.start()
    await carillon.enqueueMany(job, named(["a"]))
    await vi.waitUntil(() => exits.length > 0, { timeout: 20_000 })
    expect(exits).toEqual([1])
    await expect(carillon.enqueue(quick)).rejects.toMatchObject({ code: "CLOSED" })
  })
})
