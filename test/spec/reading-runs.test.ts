/** Runs as they are read: one by its id, pages of them by a filter, and how many there are. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, FilterError, OptionsError, type Run, type RunListOptions } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const UNKNOWN_RUN = "01900000-0000-7000-8000-000000000000"
const NINE = "2026-03-01T09:00Z"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

describe("a run that is read", () => {
  const gate = createGate()
  const mail = defineJob({ name: "mail", run: async (input: unknown) => ({ sent: input }) })
  const slow = defineJob({
    name: "slow",
    run: async (_: unknown, ctx) => {
      await ctx.progress({ done: 1 })
      await gate.opened
    },
  })
  const broken = defineJob({
    name: "broken",
    retry: { attempts: 2, delay: "1m" },
    run: async (_: unknown) => Promise.reject(Object.assign(new Error("no luck 7"), { code: "E_LUCK" })),
  })
  const said = { tenant: "acme", tags: ["eu"], key: "k", priority: 3, timeout: "5s" } as const
  const kept = { tenant: "acme", tags: ["eu"], key: "k", priority: 3, timeoutMs: 5_000, input: { to: "ada" } }
  let app: WatchedApp

  beforeAll(async () => {
    app = await kit.app({ jobs: [mail, slow, broken], at: NINE })
  })
  afterAll(async () => {
    gate.open()
    await app.close()
  })

  it("is the same record while it waits, when it is ready and when it has ended", async () => {
    const run = await app.enqueue(mail, { to: "ada" }, { ...said, delay: "1h" })
    const common = {
      id: run.id,
      job: "mail",
      pool: "default",
      ...kept,
      generation: 1,
      idempotencyKey: `run:${run.id}`,
    }
    const enqueuedAt = new Date(NINE)
    expect(await app.runs.get(run.id)).toEqual({
      ...common,
      ...{ state: "waiting", attempt: 0, enqueuedAt, dueAt: new Date("2026-03-01T10:00Z") },
    })
    await app.clock.advance("1h")
    await app.drain()
    expect(await app.runs.get(run.id)).toEqual({
      ...common,
      ...{ state: "succeeded", attempt: 1, result: { sent: { to: "ada" } }, worker: expect.any(String) },
      ...{
        enqueuedAt,
        dueAt: new Date("2026-03-01T10:00Z"),
        startedAt: expect.any(Date),
        finishedAt: expect.any(Date),
      },
      durationMs: expect.any(Number),
    })
    expect(await app.runs.get(UNKNOWN_RUN)).toBeUndefined()
  })

  it("says its error while it waits for another attempt, as a dead letter, and when it was discarded", async () => {
    const run = await app.enqueue(broken, { to: "ada" }, said)
    await app.drain()
    const error = {
      code: "E_LUCK",
      message: "no luck 7",
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    }
    expect(await app.runs.get(run.id)).toMatchObject({ ...kept, state: "waiting", attempt: 1, error })
    await app.clock.advance("1m")
    await app.drain()
    const dead = await app.runs.get(run.id)
    expect(dead).toMatchObject({
      ...kept,
      state: "dead",
      attempt: 2,
      error: { ...error, stack: expect.any(String) },
    })
    expect(dead).toMatchObject({
      worker: expect.any(String),
      startedAt: expect.any(Date),
      finishedAt: expect.any(Date),
    })
    await app.deadLetters.discard(run.id, { actor: "ada", reason: "no use" })
    expect(await app.runs.get(run.id)).toMatchObject({ ...kept, state: "discarded", attempt: 2, error })
    expect(await idsOf({ filter: { state: "discarded" } })).toEqual([run.id])
    expect(await idsOf({ filter: "state:dead" })).toEqual([])
  })

  it("says who has it while it is running", async () => {
    await app.start()
    const run = await app.enqueue(slow, null)
    await app.until("attempt.started", (event) => event.run === run.id)
    const running = await app.runs.get(run.id)
    expect(running).toMatchObject({
      state: "running",
      attempt: 1,
      worker: expect.any(String),
      leaseUntil: expect.any(Date),
    })
    expect(await idsOf({ filter: { state: "running", worker: running?.worker ?? "" } })).toEqual([run.id])
    gate.open()
    await run.result()
    expect(await idsOf({ filter: { state: "running" } })).toEqual([])
  })

  it("keeps what it was enqueued with when it is cancelled", async () => {
    const run = await app.enqueue(mail, { to: "ada" }, { ...said, key: "other", delay: "1h" })
    await app.runs.cancel(run.id)
    expect(await app.runs.get(run.id)).toMatchObject({
      ...kept,
      key: "other",
      state: "cancelled",
      attempt: 0,
    })
    expect(await idsOf({ filter: { key: "other", tag: "eu", priority: { above: 2 } } })).toEqual([run.id])
  })

  it("names its schedule and its occurrence", async () => {
    await app.schedules.create({ name: "nightly", job: mail, cron: "0 12 * * *", input: { to: "bob" } })
    await app.clock.advance("4h")
    await app.until("attempt.finished", ({ job }) => job === "mail")
    const { items } = await app.runs.list({ filter: "schedule:nightly" })
    expect(items).toMatchObject([
      { schedule: { name: "nightly", occurrence: new Date("2026-03-01T12:00Z") } },
    ])
    expect(await app.runs.count({ filter: { schedule: items[0]?.schedule?.id ?? "" } })).toEqual({
      count: 1,
      capped: false,
    })
    expect(await idsOf({ filter: "schedule:nighty" })).toEqual([])
  })

  it("is on one page of the list, newest first, and the count agrees", async () => {
    const runs = await app.enqueueMany(
      mail,
      Array.from({ length: 7 }, (_, n) => ({ input: { n }, tags: ["listed"], delay: "1d" })),
    )
    const newest = runs.map(({ id }) => id).toReversed()
    const pages: Run[][] = []
    let cursor: string | undefined
    do {
      const page = await app.runs.list({ filter: { tag: "listed" }, limit: 3, ...(cursor && { cursor }) })
      pages.push([...page.items])
      cursor = page.nextCursor
    } while (cursor)
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
    expect(pages.flat().map(({ id }) => id)).toEqual(newest)
    expect(await app.runs.count({ filter: "tag:listed" })).toEqual({ count: 7, capped: false })
    expect(await app.runs.count({ filter: "tag:listed", upTo: 5 })).toEqual({ count: 5, capped: true })
    expect(await idsOf({ filter: { tag: "listed", input: { n: { atLeast: 5 } } } })).toEqual(
      newest.slice(0, 2),
    )
  })

  it("is asked for in a way that can be understood, or not at all", async () => {
    const { nextCursor = "" } = await app.runs.list({ limit: 1 })
    const wrong: [RunListOptions, string][] = [
      [{ limit: 0 }, "limit"],
      [{ limit: 1_001 }, "limit"],
      [{ filter: 7 as never }, "filter"],
      [{ cursor: "x" }, "cursor"],
      [{ cursor: nextCursor, filter: "job:mail" }, "cursor"],
      [{ page: 2 } as never, "page"],
    ]
    for (const [options, path] of wrong) {
      const error = await app.runs.list(options).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(OptionsError)
      expect(error.faults).toMatchObject([{ path }])
    }
    await expect(app.runs.list({ filter: "stat:ready" })).rejects.toBeInstanceOf(FilterError)
    await expect(app.runs.count({ filter: { stat: "ready" } as never })).rejects.toMatchObject({
      code: "FILTER_INVALID",
    })
    await expect(app.runs.get("7")).rejects.toBeInstanceOf(OptionsError)
    await expect(app.runs.count({ upTo: 0 })).rejects.toBeInstanceOf(OptionsError)
  })

  async function idsOf(options: RunListOptions): Promise<string[]> {
    return (await app.runs.list(options)).items.map(({ id }) => id)
  }
})
