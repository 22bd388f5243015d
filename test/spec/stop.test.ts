/** Stopping: no new claim, a grace for running handlers, and the rest goes back and starts elsewhere. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { type AttemptAborted, defineJob } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn, createWatchedKit, type WatchedKit } from "../support/watched-app.ts"
import { answerLost } from "../support/watched-database.ts"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

/** A job that runs until its gate opens, or until its signal aborts, if it listens. */
function patient({ listens = true, settings = {} } = {}) {
  const gate = createGate()
  const started: string[] = []
  const reasons: AttemptAborted[] = []
  const job = defineJob({
    name: "patient",
    retry: { attempts: 1 },
    ...settings,
    run: (_: undefined, { signal, runId }) =>
      new Promise<string>((resolve, reject) => {
        started.push(runId)
        void gate.opened.then(() => resolve("done"))
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason)
          if (listens) reject(signal.reason)
        })
      }),
  })
  return { job, gate, started, reasons }
}

describe("a stop", () => {
  it("claims nothing more: waiting runs stay where they are", async () => {
    const { job, gate, started } = patient()
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    await app.start()
    const runs = await app.enqueueMany(job, [{}, {}, {}])
    await vi.waitUntil(() => started.length === 1)
    const stopping = app.stop({ grace: "1h" })
    gate.open()
    await stopping
    expect(started).toHaveLength(1)
    const left = await rowsOf(app.database, "select {schema}.state(runs), attempt, lease from {runs}")
    expect(left).toEqual([1, 2].map(() => ({ state: "ready", attempt: 0, lease: null })))
    await app.restart()
    await app.drain()
    expect(await Promise.all(runs.map(({ id }) => app.runs.wait(id)))).toMatchObject([
      { result: "done" },
      { result: "done" },
      { result: "done" },
    ])
  })

  it("claims nothing more while its own calls are still being answered either", async () => {
    const seen: string[] = []
    const jobOf = (who: string) => defineJob({ name: "shared", run: async () => void seen.push(who) })
    const one = carillonOn(SERVER_URLS.postgres18, { jobs: [jobOf("one")] })
    const other = carillonOn(SERVER_URLS.postgres18, { schema: one.database.schema, jobs: [jobOf("other")] })
    onTestFinished(() => other.carillon.stop())
    await other.carillon.start()
    await one.carillon.start()
    const [asked, answered] = [createGate(), createGate()]
    one.database.meddle("runs/insert-one", async (insert) => {
      asked.open()
      await answered.opened
      return insert()
    })
    const calling = one.carillon.enqueue(jobOf("one"))
    await asked.opened
    const stopping = one.carillon.stop({ grace: "1h" })
    const runs = await other.carillon.enqueueMany(
      jobOf("other"),
      Array.from({ length: 20 }, () => ({})),
    )
    await Promise.all(runs.map((run) => run.result()))
    answered.open()
    await other.carillon.runs.wait((await calling).id)
    await stopping
    expect(new Set(seen)).toEqual(new Set(["other"]))
    expect(seen).toHaveLength(21)
  })

  it("lets handlers finish within their grace, and writes their results before it ends", async () => {
    const { job, gate, started } = patient()
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    expect(started).toEqual([run.id])
    const held = createGate()
    app.database.meddle("runs/complete", (settle) => held.opened.then(settle))
    let isStopped = false
    const stopping = app.stop({ grace: "1h" }).then(() => {
      isStopped = true
    })
    gate.open()
    await vi.waitUntil(() => app.database.count("runs/complete") === 1)
    expect(isStopped).toBe(false)
    held.open()
    await stopping
    expect(await rowsOf(app.database, "select run_state from {attempts}")).toEqual([
      { run_state: "succeeded" },
    ])
  })

  it("aborts the handlers that have not finished, and gives their runs back uncharged", async () => {
    const { job, reasons } = patient()
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    await app.stop({ grace: 0 })
    expect(reasons).toMatchObject([{ code: "STOPPING", runId: run.id }])
    expect(await rowsOf(app.database, "select {schema}.state(runs), attempt, suspect from {runs}")).toEqual([
      { state: "ready", attempt: 0, suspect: false },
    ])
    expect(await rowsOf(app.database, "select outcome, charged, run_state from {attempts}")).toEqual([
      { outcome: "released", charged: false, run_state: null },
    ])
    expect(await app.until("worker.stopped")).toMatchObject({ unfinished: 1 })
  })

  it("ends although a handler does not: its run is given back all the same", async () => {
    const { job } = patient({ listens: false })
    await using app = await kit.app({ jobs: [job] })
    await app.enqueue(job)
    await app.tick()
    await app.stop({ grace: 0 })
    expect(await rowsOf(app.database, "select {schema}.state(runs), attempt from {runs}")).toEqual([
      { state: "ready", attempt: 0 },
    ])
  })

  it("gives back the runs of a claim in flight", async () => {
    const { job, started } = patient()
    await using app = await kit.app({ jobs: [job] })
    await app.enqueue(job, undefined, { runAt: new Date(0) })
    const [asked, answered] = [createGate(), createGate()]
    app.database.meddle("runs/claim", async (claim) => {
      const rows = await claim()
      asked.open()
      await answered.opened
      return rows
    })
    await app.start()
    await asked.opened
    const stopping = app.stop({ grace: 0 })
    answered.open()
    await stopping
    expect(started).toEqual([])
    expect(await rowsOf(app.database, "select {schema}.state(runs), attempt from {runs}")).toEqual([
      { state: "ready", attempt: 0 },
    ])
  })

  it("gives back the runs of a claim whose answer was lost", async () => {
    const { job } = patient()
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    await app.enqueue(job, undefined, { runAt: new Date(0) })
    const lost = createGate()
    app.database.meddle("runs/claim", async (claim) => {
      const rows = await claim()
      lost.open()
      return answerLost(async () => rows)
    })
    await app.start()
    await lost.opened
    await app.stop({ grace: 0 })
    expect(await rowsOf(app.database, "select {schema}.state(runs), attempt, lease from {runs}")).toEqual([
      { state: "ready", attempt: 0, lease: null },
    ])
    expect(await rowsOf(app.database, "select from {workers} where not dead")).toEqual([])
  })

  it("gives up its lease before the partitions of the coming days are made", async () => {
    const { job } = patient()
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    const [making, retired] = [createGate(), createGate()]
    app.database.meddle("attempts/make-days", async (make) => {
      making.open()
      await retired.opened
      return make()
    })
    app.database.meddle("workers/retire", async (retire) => {
      const rows = await retire()
      retired.open()
      return rows
    })
    await app.start()
    await making.opened
    await app.stop({ grace: 0 })
    retired.open()
    expect(app.database.count("workers/retire")).toBe(1)
  })

  it("leaves no lease behind for a reaper", async () => {
    const { job, gate } = patient()
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    await app.enqueue(job)
    await app.tick()
    await app.stop({ grace: 0 })
    expect(await rowsOf(app.database, "select from {workers} where not dead")).toEqual([])
    gate.open()
    await app.restart()
    await app.clock.advance("61s")
    expect(app.events.filter(({ type }) => type === "lease.reaped")).toEqual([])
    expect(await rowsOf(app.database, "select from {attempts} where outcome = 'lost'")).toEqual([])
  })

  it("keeps the lease while handlers run: no process takes their runs away", async () => {
    const { job, gate, started } = patient()
    const { carillon, database } = carillonOn(SERVER_URLS.postgres18, { jobs: [job], lease: "1s" })
    onTestFinished(() => carillon.stop({ grace: 0 }))
    await carillon.start()
    await carillon.enqueue(job)
    await vi.waitUntil(() => started.length === 1)
    const stopping = carillon.stop({ grace: "1h" })
    // Two leases later, by the database's own clock.
    const [before] = await rowsOf(database, "select clock_timestamp() as at")
    const past =
      `select from {workers} where not dead and expires_at > '${before?.["at"]}'::timestamptz + ` +
      "interval '2 s'"
    await vi.waitUntil(async () => (await rowsOf(database, past)).length === 1, { timeout: 20_000 })
    gate.open()
    await stopping
  })
})

describe("a run given back by a stop", () => {
  it("starts in another process, which is woken for it", async () => {
    const first = patient()
    const one = carillonOn(SERVER_URLS.postgres18, { jobs: [first.job] })
    const second = patient()
    const two = carillonOn(SERVER_URLS.postgres18, { schema: one.database.schema, jobs: [second.job] })
    onTestFinished(() => two.carillon.stop({ grace: 0 }))
    await one.carillon.start()
    const runs = await one.carillon.enqueueMany(first.job, [{}, {}, {}])
    await vi.waitUntil(() => first.started.length === 3)
    await two.carillon.start()
    const notes = one.database.count("wakeups/notify")
    await one.carillon.stop({ grace: 0 })
    await vi.waitUntil(() => second.started.length === 3, { timeout: 20_000 })
    expect(one.database.count("wakeups/notify")).toBeGreaterThan(notes)
    second.gate.open()
    for (const { id } of runs) {
      expect(await two.carillon.runs.wait(id)).toMatchObject({ result: "done" })
      expect(await two.carillon.runs.attempts(id)).toMatchObject([
        { outcome: "released", charged: false, attempt: 1 },
        { outcome: "succeeded", cause: "released", attempt: 1 },
      ])
    }
  })
})
