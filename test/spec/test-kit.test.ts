import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { createTestKit, type TestKit } from "../../src/testing/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const noop = defineJob({ name: "noop", run: async () => {} })
const kept = defineJob({ name: "kept", history: "long", run: async () => {} })
const host = createSystemHost()

/** Takes real time, as handlers do. */
const slow = defineJob({
  name: "slow",
  run: async (input: { fail: boolean } | undefined) => {
    const sinceMs = host.monotonicMs()
    while (host.monotonicMs() < sinceMs + 3);
    if (input?.fail) throw new Error("no")
  },
})

describe.each(["memory", "postgres18"] as const)("the test kit, on %s", (where) => {
  let kit: TestKit
  beforeAll(async () => {
    kit = await createTestKit({ database: where === "memory" ? "memory" : SERVER_URLS[where] })
  })
  afterAll(() => kit.close())

  it("has a clock that stands still until it is moved", async () => {
    await using app = await kit.app({ at: "2026-03-29T00:59:59.999Z" })
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T00:59:59.999Z"))
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T00:59:59.999Z"))
    await app.clock.advance(1)
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T01:00Z"))
    await app.clock.set("2020-02-29T12:00:00+02:00")
    expect(await app.clock.now()).toEqual(new Date("2020-02-29T10:00Z"))
  })

  it("refuses a time without a zone, and an invalid duration", async () => {
    await using app = await kit.app()
    await expect(app.clock.set("2026-03-29T01:00")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(app.clock.advance("soon" as "1s")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it("lets everything on the way happen at its own moment", async () => {
    await using app = await kit.app({ jobs: [noop], at: "2026-03-01T00:00Z" })
    const runs = await Promise.all(
      [3, 1, 2].map((hours) => app.enqueue(noop, undefined, { delay: `${hours}h` })),
    )
    await app.clock.advance("1d")
    const finished = await Promise.all(
      runs.map(async ({ id }) => (await app.runs.attempts(id))[0]?.finishedAt),
    )
    expect(finished).toEqual([3, 1, 2].map((hours) => new Date(Date.UTC(2026, 2, 1, hours))))
    expect(await app.clock.now()).toEqual(new Date("2026-03-02T00:00Z"))
  })

  it("starts nothing before it is due by its own clock, however long handlers take", async () => {
    await using app = await kit.app({ jobs: [slow], at: "2026-03-01T00:00Z" })
    const due = new Date("2026-03-01T01:00Z")
    const run = await app.enqueue(slow, undefined, { runAt: due })
    const failing = await app.enqueue(slow, { fail: true }, { runAt: due, retry: { attempts: 1 } })
    await app.clock.advance("1d")
    for (const { id } of [run, failing]) {
      expect(await app.runs.attempts(id)).toMatchObject([{ startedAt: due, finishedAt: due, durationMs: 0 }])
    }
  })

  it("counts as the duration of an attempt how far the clock was moved", async () => {
    const letGo = createGate()
    const patient = defineJob({ name: "patient", run: () => letGo.opened })
    await using app = await kit.app({ jobs: [patient], at: "2026-03-01T00:00Z" })
    const run = await app.enqueue(patient)
    await app.tick()
    await app.clock.set("2026-03-01T00:00:20Z")
    letGo.open()
    await app.drain()
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { startedAt: new Date("2026-03-01T00:00Z"), finishedAt: new Date("2026-03-01T00:00:20Z") },
    ])
  })

  it.each(["advance", "set"] as const)(
    "lets history and keys expire when their time is over: %s",
    async (how) => {
      await using app = await kit.app({ jobs: [noop, kept], at: "2026-03-01T12:00Z" })
      const short = await app.enqueue(noop, undefined, { key: "a", keyFor: "1h" })
      const long = await app.enqueue(kept)
      await app.drain()
      if (how === "advance") await app.clock.advance("9d")
      else await app.clock.set("2026-03-10T12:00Z")
      await app.drain()
      expect(await app.runs.attempts(short.id)).toEqual([])
      expect(await app.runs.attempts(long.id)).toHaveLength(1)
      expect((await app.enqueue(noop, undefined, { key: "a", keyFor: "1h" })).created).toBe(true)
    },
  )

  it("lets tests use tables of the application, in transactions of handlers and of callers", async () => {
    await kit.query("create table if not exists public.booked (amount int)")
    await kit.query("truncate public.booked")
    const book = defineJob({
      name: "book",
      run: (amount: number, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.query("insert into public.booked values ($1)", [amount])
          return amount
        }),
    })
    await using app = await kit.app({ jobs: [book] })
    const run = await app.transaction(async (tx) => {
      await tx.query("insert into public.booked values ($1)", [1])
      return app.enqueue(book, 2, { tx })
    })
    const undone = app.transaction(async (tx) => {
      await app.enqueue(book, 3, { tx })
      throw new Error("no")
    })
    await expect(undone).rejects.toThrow("no")
    await app.drain()
    expect(await run.result()).toBe(2)
    const { rows } = await app.query(
      "select amount from public.booked where amount < $1 order by amount",
      [9],
    )
    expect(rows).toEqual([{ amount: 1 }, { amount: 2 }])
    expect(await kit.query("drop table public.booked")).toMatchObject({ rowCount: 0 })
  })

  it("refuses a call beside an open transaction in memory, where it would wait for ever", async () => {
    if (where !== "memory") return
    await using app = await kit.app({ jobs: [noop] })
    const nested = app.transaction(() => app.enqueue(noop))
    await expect(nested).rejects.toMatchObject({
      code: "TRANSACTION_NESTED",
      message: expect.stringContaining("Give it the transaction, as `{ tx }`"),
    })
  })

  it("does nothing until it is told to, then one step at a time", async () => {
    await using app = await kit.app({ jobs: [noop] })
    await app.enqueue(noop)
    expect(app.events.map(({ type }) => type)).not.toContain("attempt.started")
    await app.tick()
    await app.until("attempt.finished")
  })

  it("keeps apps apart, side by side", async () => {
    await using one = await kit.app({ jobs: [noop], at: "2026-01-01T00:00Z" })
    await using other = await kit.app({ jobs: [noop], at: "2036-01-01T00:00Z" })
    const run = await one.enqueue(noop)
    await other.drain()
    expect(await other.runs.attempts(run.id)).toEqual([])
    await one.drain()
    expect(await one.runs.attempts(run.id)).toHaveLength(1)
    expect(await other.clock.now()).toEqual(new Date("2036-01-01T00:00Z"))
  })

  it("can let the loops run by themselves, as in production", async () => {
    await using app = await kit.app({ jobs: [noop] })
    await app.start()
    const run = await app.enqueue(noop)
    expect(await run.result()).toBeNull()
  })
})
