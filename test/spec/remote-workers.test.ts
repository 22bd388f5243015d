/** Workers in other languages: a lease of their own, the same claims, the same fence, the same reaper. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { defineJob } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn, createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const worker = { name: "python", jobs: ["py.greet"] }
const DONE = { outcome: "succeeded", result: "Hello Ada", durationMs: 5 } as const
let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

/** A process that answers the calls, with a worker that has a lease and no runs. */
async function withWorker(options: Parameters<WatchedKit["app"]>[0] = {}) {
  const app = await kit.app(options)
  onTestFinished(() => app[Symbol.asyncDispose]())
  await app.start()
  const { lease } = await app.work.claim({ worker })
  return { app, lease }
}

async function claimOne(app: WatchedApp, lease: string) {
  const { runs } = await app.work.claim({ lease })
  const [run] = runs
  if (!run) throw new Error("there is a run to claim")
  return run
}

describe("a worker in another language", () => {
  it("declares its jobs, so that their runs can be enqueued, and executes them", async () => {
    const { app, lease } = await withWorker()
    expect(await app.workers.get(lease)).toMatchObject({ host: "python", jobs: ["py.greet"] })
    const { id } = await app.enqueue("py.greet", { name: "Ada" }, { tenant: "acme", tags: ["eu"] })
    const run = await claimOne(app, lease)
    expect(run).toMatchObject({
      id,
      job: "py.greet",
      pool: "default",
      input: { name: "Ada" },
      attempt: 1,
      tenant: "acme",
      tags: ["eu"],
      idempotencyKey: `run:${id}`,
      fencingToken: 1,
    })
    expect(await app.work.settle({ lease, ends: [{ ...heldOf(run), ...DONE }] })).toMatchObject({
      runs: [{ id, state: "succeeded" }],
    })
    expect(await app.runs.get(id)).toMatchObject({ state: "succeeded", result: "Hello Ada" })
    expect(await app.runs.attempts(id)).toMatchObject([{ outcome: "succeeded", worker: "python" }])
  })

  it("claims the highest priority first, from all its pools, and no more than it asks for", async () => {
    const app = await kit.app()
    onTestFinished(() => app[Symbol.asyncDispose]())
    const many = { name: "python", jobs: ["py.greet"], pools: ["default"] }
    const { lease } = await app.work.claim({ worker: many })
    for (const priority of [0, 10, -5, 3]) await app.enqueue("py.greet", priority, { priority })
    const first = await app.work.claim({ lease, limit: 3 })
    // Now and then a claim begins with the lowest priority.
    expect([...first.runs.map(({ input }) => input)].sort()).toHaveLength(3)
    const rest = await app.work.claim({ lease, limit: 3 })
    expect(rest.runs).toHaveLength(1)
    expect(await app.work.claim({ lease, limit: 3 })).toMatchObject({ runs: [] })
  })

  it("is woken by an enqueue while it waits", async () => {
    const { carillon } = carillonOn(SERVER_URLS.postgres18, {})
    onTestFinished(() => carillon.stop())
    await carillon.start()
    const { lease } = await carillon.work.claim({ worker })
    const waiting = carillon.work.claim({ lease, wait: "1m" })
    const { id } = await carillon.enqueue("py.greet", { name: "Ada" })
    expect(await waiting).toMatchObject({ runs: [{ id }] })
  })

  it("fails a run by the retry settings of the job, or as it asks itself", async () => {
    const job = defineJob({
      name: "py.greet",
      pool: "elsewhere",
      retry: { attempts: 2, delay: "7s" },
      run: async () => {},
    })
    const app = await kit.app({ jobs: [job], pools: { other: 1 } })
    onTestFinished(() => app[Symbol.asyncDispose]())
    await app.start()
    const { lease } = await app.work.claim({ worker: { ...worker, pools: ["elsewhere"] }, leaseFor: "1h" })
    const { id } = await app.enqueue("py.greet", { name: "Ada" })
    const failed = { outcome: "failed", error: { message: "no such name", code: "E_NAME" } } as const
    const first = await claimOne(app, lease)
    const settled = await app.work.settle({ lease, leaseFor: "1h", ends: [{ ...heldOf(first), ...failed }] })
    expect(settled.runs).toEqual([{ id, state: "waiting" }])
    await app.clock.advance("7s")
    const second = await claimOne(app, lease)
    expect(second).toMatchObject({ attempt: 2, lastFailure: { code: "E_NAME", message: "no such name" } })
    const last = await app.work.settle({ lease, ends: [{ ...heldOf(second), ...failed }] })
    expect(last.runs).toEqual([{ id, state: "dead" }])
    expect(await app.deadLetters.get(id)).toMatchObject({ error: { message: "no such name" } })
  })

  it("gives back a run without a charge, and lets one rest", async () => {
    const { app, lease } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" })
    const first = await claimOne(app, lease)
    await app.work.settle({ lease, ends: [{ ...heldOf(first), outcome: "released" }] })
    const again = await claimOne(app, lease)
    expect(again).toMatchObject({ id, attempt: 1, fencingToken: 2 })
    const snoozed = { ...heldOf(again), outcome: "snoozed", snoozeFor: "1m" } as const
    expect(await app.work.settle({ lease, ends: [snoozed] })).toMatchObject({ runs: [{ state: "waiting" }] })
  })

  it("that repeats a settle gets the same answer, and writes nothing twice", async () => {
    const { app, lease } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" })
    const end = { ...heldOf(await claimOne(app, lease)), ...DONE }
    const first = await app.work.settle({ lease, ends: [end] })
    expect(await app.work.settle({ lease, ends: [end] })).toEqual(first)
    expect(await app.runs.attempts(id)).toHaveLength(1)
  })

  it("hears which runs are lost, cancelled, or held without its knowledge", async () => {
    const { app, lease } = await withWorker()
    await app.enqueue("py.greet", 1)
    await app.enqueue("py.greet", 2)
    const [a, b] = [await claimOne(app, lease), await claimOne(app, lease)]
    await app.runs.cancel(a.id, { actor: "ada", reason: "ordered twice" })
    const strange = { id: b.id, claim: "0123456789abcdef" }
    const beat = await app.work.heartbeat({ lease, runs: [heldOf(a), strange] })
    expect(beat).toMatchObject({
      lost: [b.id],
      cancelled: [{ id: a.id, actor: "ada", reason: "ordered twice" }],
      unlisted: [heldOf(b)],
    })
    const ends = [{ ...heldOf(a), ...DONE }]
    expect(await app.work.settle({ lease, ends })).toMatchObject({ runs: [{ state: "cancelled" }] })
  })
})

describe("S7: the fence of a worker in another language", () => {
  it("refuses ends with a guessed claim, and answers that nothing was written", async () => {
    const { app, lease } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" })
    const run = await claimOne(app, lease)
    const forged = { ...DONE, id, claim: "0123456789abcdef" }
    expect(await app.work.settle({ lease, ends: [forged] })).toMatchObject({ runs: [{ id }] })
    expect(await app.runs.get(id)).toMatchObject({ state: "running" })
    const { lease: other } = await app.work.claim({ worker })
    const borrowed = await app.work.settle({ lease: other, ends: [{ ...heldOf(run), ...DONE }] })
    expect(borrowed.runs).toEqual([{ id }])
  })

  it("does not let it speak for a process of our own", async () => {
    const { app } = await withWorker({ jobs: [defineJob({ name: "ours", run: async () => {} })] })
    const { items } = await app.workers.list()
    const ours = items.find(({ pid }) => pid !== 0)
    await expect(app.work.heartbeat({ lease: ours?.id ?? "" })).rejects.toMatchObject({ code: "LEASE_LOST" })
  })

  it("takes back the runs of a silent one, and refuses everything that it says later", async () => {
    const { app, lease } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" })
    const run = await claimOne(app, lease)
    await app.clock.advance("2m")
    await expect.poll(() => app.runs.get(id)).toMatchObject({ state: "ready" })
    for (const call of [
      () => app.work.heartbeat({ lease, runs: [heldOf(run)] }),
      () => app.work.settle({ lease, ends: [{ ...heldOf(run), ...DONE }] }),
      () => app.work.claim({ lease }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "LEASE_LOST" })
    }
    const { runs } = await app.work.claim({ worker })
    expect(runs).toMatchObject([{ id, attempt: 1, fencingToken: 2 }])
    expect(await app.runs.attempts(id)).toMatchObject([{ outcome: "lost" }])
  })

  it("does not get a run again that has used up its attempts by killing its workers", async () => {
    const { app } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" }, { retry: { attempts: 1 } })
    for (const _ of ["free", "charged"]) {
      const { runs } = await app.work.claim({ worker })
      expect(runs).toMatchObject([{ id, attempt: 1 }])
      await app.clock.advance("2m")
      await expect.poll(() => app.runs.get(id)).toMatchObject({ state: "ready" })
    }
    expect((await app.work.claim({ worker })).runs).toEqual([])
    expect(await app.runs.get(id)).toMatchObject({ state: "dead", error: { code: "ATTEMPTS_EXHAUSTED" } })
  })

  it("works under what operators have overridden", async () => {
    const { app, lease } = await withWorker()
    const { id } = await app.enqueue("py.greet", { name: "Ada" }, { timeout: "1h" })
    const override = { retry: { attempts: 1 }, timeout: "5s" } as const
    await app.jobs.override("py.greet", override, { until: "cleared", reason: "the API is down" })
    const run = await claimOne(app, lease)
    expect(run).toMatchObject({ id, timeoutMs: 5_000 })
    const end = { ...heldOf(run), outcome: "failed", error: { message: "no" }, durationMs: 5 } as const
    expect((await app.work.settle({ lease, ends: [end] })).runs).toEqual([{ id, state: "dead" }])
  })

  it("that leaves takes its name off the list, but not while it holds a run", async () => {
    const { app, lease } = await withWorker()
    await app.enqueue("py.greet", { name: "Ada" })
    const run = await claimOne(app, lease)
    await app.work.heartbeat({ lease, leaving: true })
    expect(await app.workers.get(lease)).toBeDefined()
    await app.work.settle({ lease, ends: [{ ...heldOf(run), ...DONE }] })
    await app.work.heartbeat({ lease, leaving: true })
    expect(await app.workers.get(lease)).toBeUndefined()
  })
})

describe("a call of a worker in another language", () => {
  it.each([
    [{ worker: { name: "python", job: ["x"] } }, /worker\.job.*did you mean "jobs"/],
    [{}, /give the lease of an earlier claim, or a `worker` without one/],
    [{ worker, limit: 0 }, /limit: expected a whole number from 1 to 500/],
    [{ worker, wait: "2m" }, /wait: expected at most 60000 ms/],
  ])("names what is wrong with a claim: %j", async (options, message) => {
    const { app } = await withWorker()
    await expect(app.work.claim(options as never)).rejects.toThrow(message)
  })

  it("names what is wrong with an end", async () => {
    const { app, lease } = await withWorker()
    const end = { id: lease, claim: "0123456789abcdef" }
    const settle = (...ends: object[]) => app.work.settle({ lease, ends: ends as never })
    await expect(settle({ ...end, outcome: "failed" })).rejects.toThrow(/ends\[0\]\.error: expected an error/)
    await expect(settle({ ...end, outcome: "sucseeded" })).rejects.toThrow(/did you mean "succeeded"/)
    await expect(settle({ ...end, ...DONE }, { ...end, ...DONE })).rejects.toThrow(/stands here twice/)
  })
})

function heldOf({ id, claim }: { readonly id: string; readonly claim: string }) {
  return { id, claim }
}
