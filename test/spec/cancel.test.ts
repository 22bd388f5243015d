/** Cancelling a run, in every state. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type AttemptAborted, Bury, type CarillonOptions, defineJob } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn, createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "ordered twice" }

const plain = defineJob({ name: "plain", run: async () => "done" })
const parked = defineJob({ name: "parked", concurrency: 1, run: async () => "done" })
const doomed = defineJob({ name: "doomed", run: async () => Bury("no") })

let kit: WatchedKit
let app: WatchedApp
beforeAll(async () => {
  kit = await createWatchedKit()
  app = await kit.app({ jobs: [plain, parked, doomed] })
})
afterAll(async () => {
  await app.close()
  await kit.close()
})

const audit = (of: WatchedApp, id: string) =>
  rowsOf(of.database, `select actor, action, reason, before, after from {audit} where subject = 'run:${id}'`)
const AUDITED = { actor: "ada", action: "run.cancel", reason: "ordered twice" }

/** A run in this state, which no worker executes meanwhile. */
async function runThatIs(state: "waiting" | "ready" | "parked") {
  if (state === "waiting") return app.enqueue(plain, undefined, { delay: "1h" })
  if (state === "ready") return app.enqueue(plain, undefined, { runAt: new Date(0) })
  await app.enqueue(parked)
  return app.enqueue(parked)
}

describe.each(["waiting", "ready", "parked"] as const)("a run that is %s", (state) => {
  it("is cancelled at once, and its waiters hear who cancelled it and why", async () => {
    const run = await runThatIs(state)
    expect(await app.runs.get(run.id)).toMatchObject({ state })
    const waiting = expect(run.result()).rejects.toMatchObject({
      code: "RUN_CANCELLED",
      runId: run.id,
      message: `Run ${run.id} was cancelled by ada: ordered twice`,
    })
    expect(await app.runs.cancel(run.id, by)).toEqual({ changed: true, state: "cancelled" })
    await waiting
    expect(await app.runs.get(run.id)).toMatchObject({ state: "cancelled" })
    await app.drain()
    expect(app.events.filter((event) => event.type === "attempt.started" && event.run === run.id)).toEqual([])
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { outcome: "cancelled", runState: "cancelled", charged: false, error: { code: "RUN_CANCELLED" } },
    ])
    expect(app.events).toContainEqual({ type: "run.cancelled", run: run.id, ...by })
  })

  it("is cancelled once: the second call changes nothing and says so", async () => {
    const run = await runThatIs(state)
    await app.runs.cancel(run.id, by)
    expect(await app.runs.cancel(run.id, by)).toEqual({ changed: false, state: "cancelled" })
    expect(await audit(app, run.id)).toEqual([{ ...AUDITED, before: { state }, after: null }])
    expect(app.events.filter((event) => event.type === "run.cancelled" && event.run === run.id)).toHaveLength(
      1,
    )
  })

  it("stays as it is when the audit record cannot be written", async () => {
    const run = await runThatIs(state)
    const disk = new Error("the disk is full")
    app.database.meddle("audit/record", async () => Promise.reject(disk))
    await expect(app.runs.cancel(run.id, by)).rejects.toBe(disk)
    expect(await app.runs.get(run.id)).toMatchObject({ state })
    expect(await app.runs.attempts(run.id)).toEqual([])
  })
})

describe("a run that is running", () => {
  /** A handler that reports when it has started and when it was told to end. */
  function patient(ends: () => unknown = () => "done all the same") {
    const [started, told, end] = [createGate(), createGate(), createGate()]
    const reasons: AttemptAborted[] = []
    const job = defineJob({
      name: "patient",
      run: async (_: undefined, { signal }): Promise<unknown> => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason)
          told.open()
        })
        started.open()
        await end.opened
        return ends()
      },
    })
    return { job, started, told, end, reasons }
  }

  it("is aborted, ends as cancelled whatever its handler returns, and is never retried", async () => {
    const { job, told, end, reasons } = patient()
    await using alone = await kit.app({ jobs: [job] })
    const run = await alone.enqueue(job)
    await alone.tick()
    expect(await alone.runs.cancel(run.id, by)).toEqual({ changed: true, state: "cancelling" })
    await told.opened
    expect(reasons).toMatchObject([
      { code: "RUN_CANCELLED", runId: run.id, message: "Cancelled by ada: ordered twice" },
    ])
    await alone.until("attempt.finished", ({ runState }) => runState === "cancelled")
    await expect(run.result()).rejects.toMatchObject({
      code: "RUN_CANCELLED",
      message: `Run ${run.id} was cancelled by ada: ordered twice`,
    })
    end.open()
    await alone.drain()
    expect(await alone.runs.cancel(run.id, by)).toEqual({ changed: false, state: "cancelled" })
    expect(await alone.runs.attempts(run.id)).toMatchObject([{ outcome: "cancelled", runState: "cancelled" }])
    expect(await audit(alone, run.id)).toEqual([{ ...AUDITED, before: { state: "running" }, after: null }])
  })

  it("hears who cancelled it and why from another process, also when no reason is given", async () => {
    const { job, told, end, reasons } = patient()
    await using alone = await kit.app({ jobs: [job] })
    const other = await kit.beside(alone, { jobs: [] })
    const run = await alone.enqueue(job)
    await alone.tick()
    await other.runs.cancel(run.id, by)
    await alone.tick()
    await told.opened
    expect(reasons).toMatchObject([{ message: "Cancelled by ada: ordered twice" }])
    end.open()
    await alone.drain()
    expect(await alone.runs.attempts(run.id)).toMatchObject([
      { error: { message: "Cancelled by ada: ordered twice" } },
    ])
    await other.close()
  })

  it("is cancelled once: a second call during the abort changes nothing", async () => {
    const { job, end } = patient()
    await using alone = await kit.app({ jobs: [job] })
    const run = await alone.enqueue(job)
    await alone.tick()
    // Its settle is held back, so that the run is still there for the second call.
    const settled = createGate()
    alone.database.meddle("runs/settle", (settle) => settled.opened.then(settle))
    await alone.runs.cancel(run.id, by)
    expect(await alone.runs.cancel(run.id, by)).toEqual({ changed: false, state: "cancelling" })
    settled.open()
    end.open()
    await alone.drain()
    expect(await audit(alone, run.id)).toHaveLength(1)
    expect(alone.events.filter(({ type }) => type === "run.cancelled")).toHaveLength(1)
  })

  it("ends as cancelled although its process dies first", async () => {
    const { job } = patient()
    await using alone = await kit.app({ jobs: [job], lease: "60s" })
    const run = await alone.enqueue(job)
    alone.crashAt("claim.taken")
    await alone.drain()
    await alone.restart()
    expect(await alone.runs.cancel(run.id, by)).toEqual({ changed: true, state: "cancelling" })
    await alone.clock.advance("61s")
    expect(await alone.runs.wait(run.id)).toMatchObject({ state: "cancelled" })
    expect(await alone.runs.attempts(run.id)).toMatchObject([{ outcome: "lost", runState: "cancelled" }])
  })

  it.each(["returns", "fails"])(
    "ends as cancelled although its process missed the wake-up, and its handler %s",
    async (how) => {
      const { job, end } = patient(() => (how === "fails" ? Promise.reject(new Error("no")) : "done"))
      const server = await createWatchedKit(SERVER_URLS.postgres18)
      await using alone = await server.app({ jobs: [job] })
      await using other = await server.beside(alone)
      const run = await alone.enqueue(job)
      await alone.tick()
      expect(await other.runs.cancel(run.id, by)).toEqual({ changed: true, state: "cancelling" })
      end.open()
      await alone.until("attempt.finished")
      await expect(run.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" })
      expect(await other.runs.attempts(run.id)).toMatchObject([
        { outcome: "cancelled", runState: "cancelled" },
      ])
      expect(await rowsOf(other.database, "select from {runs}")).toEqual([])
    },
  )

  async function processes(options: CarillonOptions) {
    const { job, started, told, end } = patient()
    const worker = carillonOn(SERVER_URLS.postgres18, { ...options, jobs: [job] })
    const other = carillonOn(SERVER_URLS.postgres18, { ...options, schema: worker.database.schema })
    onTestFinished(async () => {
      end.open()
      await worker.carillon.stop({ grace: 0 })
      await other.carillon.stop()
    })
    await worker.carillon.start()
    const run = await other.carillon.enqueue(job)
    await started.opened
    return { worker, other, run, told }
  }

  it("is aborted at once by a wake-up from another process", async () => {
    const { worker, other, run, told } = await processes({})
    const looks = worker.database.count("runs/find-cancelled")
    await other.carillon.runs.cancel(run.id, by)
    await told.opened
    // The wake-up came long before a poll: a renewal is 15 seconds away.
    expect(worker.database.count("runs/find-cancelled")).toBe(looks + 1)
    expect(await other.carillon.runs.wait(run.id)).toMatchObject({ state: "cancelled" })
  })

  it("is aborted within one renewal when no wake-up arrives", async () => {
    const { worker, other, run, told } = await processes({ wakeups: false, lease: "2s" })
    await other.carillon.runs.cancel(run.id, by)
    await told.opened
    expect(other.database.count("wakeups/notify")).toBe(0)
    expect(worker.database.count("runs/find-cancelled")).toBeGreaterThan(0)
    expect(await other.carillon.runs.wait(run.id)).toMatchObject({ state: "cancelled" })
  })
})

describe("a cancel", () => {
  it("of a run that has ended reports how it ended, and changes nothing", async () => {
    const done = await app.enqueue(plain)
    const dead = await app.enqueue(doomed)
    await app.drain()
    const late = await app.enqueue(plain, undefined, { startWithin: 0, runAt: new Date(0) })
    await app.drain()
    expect(await app.runs.cancel(done.id, by)).toEqual({ changed: false, state: "succeeded" })
    expect(await app.runs.cancel(dead.id, by)).toEqual({ changed: false, state: "dead" })
    expect(await app.runs.cancel(late.id, by)).toEqual({ changed: false, state: "expired" })
    expect(await done.result()).toBe("done")
    for (const { id } of [done, dead, late]) expect(await audit(app, id)).toEqual([])
  })

  it("of an unknown run says so", async () => {
    const nobody = "01900000-0000-7000-8000-000000000000"
    await expect(app.runs.cancel(nobody, by)).rejects.toMatchObject({ code: "RUN_NOT_FOUND", runId: nobody })
    await expect(app.runs.cancel("7", by)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it.each([
    [null, ["(options)"]],
    [{ actor: "ada", reason: " " }, ["reason"]],
    [{ actor: "a\0b", reason: "x".repeat(1_001) }, ["actor", "reason"]],
    [{ actor: "ada", reason: "so", why: "so" }, ["why"]],
  ])("by %j is refused, and the run goes on", async (wrong, paths) => {
    const run = await app.enqueue(plain, undefined, { delay: "1h" })
    const error = await app.runs.cancel(run.id, wrong as typeof by).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: "OPTIONS_INVALID" })
    if (wrong) expect((error as { faults: { path: string }[] }).faults.map(({ path }) => path)).toEqual(paths)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "waiting" })
  })

  it("without a reason says only who cancelled the run, to its waiter, its handler and its history", async () => {
    const gate = createGate()
    const told: unknown[] = []
    const long = defineJob({
      name: "long",
      run: async (_, { signal }) => {
        signal.addEventListener("abort", () => told.push((signal.reason as AttemptAborted).message))
        await gate.opened
      },
    })
    await using alone = await kit.app({ jobs: [plain, long], actor: "the night shift" })
    const [waiting, running] = [
      await alone.enqueue(plain, undefined, { delay: "1h" }),
      await alone.enqueue(long),
    ]
    await alone.tick()
    const message = (id: string) => `Run ${id} was cancelled by the night shift`
    const results = Promise.all([
      expect(waiting.result()).rejects.toMatchObject({ message: message(waiting.id) }),
      expect(running.result()).rejects.toMatchObject({ message: message(running.id) }),
    ])
    expect(await alone.runs.cancel(waiting.id)).toEqual({ changed: true, state: "cancelled" })
    expect(await alone.runs.cancel(running.id, {})).toEqual({ changed: true, state: "cancelling" })
    gate.open()
    await alone.drain()
    await results
    expect(told).toEqual(["Cancelled by the night shift"])
    expect(await alone.runs.attempts(waiting.id)).toMatchObject([
      { error: { message: "Cancelled by the night shift" } },
    ])
    const audited = { actor: "the night shift", action: "run.cancel", reason: "" }
    for (const { id } of [waiting, running]) expect(await audit(alone, id)).toMatchObject([audited])
  })

  it("makes room for the next in line", async () => {
    await using alone = await kit.app({ jobs: [parked], pools: { default: 5 } })
    const [first, second] = await alone.enqueueMany(parked, [{}, {}])
    await alone.jobs.pause("parked", by)
    await alone.tick()
    await alone.runs.cancel(first?.id ?? "", by)
    await alone.jobs.resume("parked", by)
    await alone.drain()
    expect(await second?.result()).toBe("done")
  })
})
