/** `ctx.transaction`: what a handler writes and the end of its run are committed together, or not at all. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type HandlerTransaction } from "../../src/index.ts"
import { openBooking } from "../support/booking-job.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"
import { answerLost, requestLost } from "../support/watched-database.ts"

const places = (["memory", "postgres18"] as const).map((where) => [where] as const)

describe.each(places)("a transaction of a handler, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  it("commits its writes together with the end of the run, whose result is its return value", async () => {
    const { app, job, effects } = await openBooking(kit, async (ctx, book) => {
      const returned = await ctx.transaction(async (tx) => {
        const { rows, rowCount } = await book(tx, "done")
        return { rows, rowCount }
      })
      return { ignored: returned }
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toEqual({ rows: [{ what: "done" }], rowCount: 1 })
    expect(await effects()).toEqual(["done"])
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { outcome: "succeeded", runState: "succeeded", charged: true, attempt: 1 },
    ])
    expect(await app.runs.get(run.id)).toMatchObject({ state: "succeeded" })
    expect(app.events.filter(({ type }) => type === "attempt.finished")).toHaveLength(1)
  })

  it.skipIf(where === "memory").each(["rollback", "commit"])(
    "that its own statement ended has not completed the run: %s",
    async (statement) => {
      const { app, job } = await openBooking(kit, (ctx, book) =>
        ctx.transaction(async (tx) => {
          await book(tx, "half")
          await tx.query(statement).catch(() => {})
        }),
      )
      const run = await app.enqueue(job, undefined, { retry: { attempts: 1 } })
      await app.drain()
      await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
      expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "failed", runState: "dead" }])
    },
  )

  it("that throws writes nothing: the attempt has failed, and the next may succeed", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, `attempt ${ctx.attempt}`)
        if (ctx.attempt === 1) throw new Error("second thoughts")
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    expect(await effects()).toEqual(["attempt 2"])
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { outcome: "failed", error: { message: "second thoughts" } },
      { outcome: "succeeded" },
    ])
  })

  it("that failed may be tried again in the same attempt", async () => {
    const { app, job, effects } = await openBooking(kit, async (ctx, book) => {
      await ctx
        .transaction(async (tx) => book(tx, "first").then(() => Promise.reject(new Error("no"))))
        .catch(() => {})
      return ctx.transaction(async (tx) => book(tx, "second").then(() => "second"))
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("second")
    expect(await effects()).toEqual(["second"])
    expect(await app.runs.attempts(run.id)).toHaveLength(1)
  })

  it("is the only one of its attempt: a second is refused, and the first commit stays", async () => {
    const refusals: unknown[] = []
    const { app, job, effects } = await openBooking(kit, async (ctx, book) => {
      await ctx.transaction((tx) => book(tx, "first").then(() => "first"))
      await ctx.transaction((tx) => book(tx, "second")).catch((error: unknown) => refusals.push(error))
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(refusals).toMatchObject([{ code: "TRANSACTION_REPEATED" }])
    expect(await run.result()).toBe("first")
    expect(await effects()).toEqual(["first"])
  })

  it("is the only one at a time", async () => {
    const refusals: unknown[] = []
    const { app, job, effects } = await openBooking(kit, async (ctx, book) =>
      Promise.all([
        ctx.transaction((tx) => book(tx, "one")),
        ctx.transaction((tx) => book(tx, "two")).catch((error: unknown) => refusals.push(error)),
      ]),
    )
    await app.enqueue(job)
    await app.drain()
    expect(refusals).toMatchObject([{ code: "TRANSACTION_REPEATED" }])
    expect(await effects()).toEqual(["one"])
  })

  it("ends the run at its commit, whatever the handler does after it", async () => {
    const { app, job, effects } = await openBooking(kit, async (ctx, book) => {
      await ctx.transaction((tx) => book(tx, "done").then(() => "done"))
      throw new Error("too late to fail")
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(await effects()).toEqual(["done"])
    expect(await app.runs.attempts(run.id)).toHaveLength(1)
  })

  it("with a result that cannot be kept writes nothing, and the run fails for good", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction((tx) => book(tx, "x").then(() => ({ n: 1n }))),
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "PAYLOAD_INVALID" } })
    expect(await effects()).toEqual([])
    expect(await app.runs.attempts(run.id)).toHaveLength(1)
  })

  it("that swallows an error is not committed, and says why", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, "x")
        await tx.query("select no_such_column").catch(() => {})
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(await effects()).toEqual([])
  })

  it("enqueues in itself: those runs exist if it commits", async () => {
    const child = defineJob({ name: "child", run: async (name: string) => name })
    const { app, job } = await openBooking(kit, (ctx) =>
      ctx.transaction(async (tx) => {
        const name = `of attempt ${ctx.attempt}`
        const run = await app.enqueue(child, name, { tx, key: "k", delay: "1h" })
        const again = await app.enqueue(child, name, { tx, key: "k", delay: "1h" })
        const many = await app.enqueueMany(child, [{ input: "a" }, { input: "b" }], { tx })
        if (ctx.attempt === 1) throw new Error("second thoughts")
        return [run, again, ...many].map(({ created }) => created)
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toEqual([true, false, true, true])
    const inputs = await rowsOf(
      app.database,
      "select input from {runs} where job = 'child' order by due_at desc",
    )
    expect(inputs.map(({ input }) => input).sort()).toEqual(["a", "b", "of attempt 2"])
  })

  it("is closed after its end: a kept reference can do nothing any more", async () => {
    let kept: HandlerTransaction | undefined
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        kept = tx
        await book(tx, "inside")
      }),
    )
    await app.enqueue(job)
    await app.drain()
    const tx = kept as HandlerTransaction
    const late = tx.query(`insert into "${app.database.schema}".effects values ('outside')`)
    await expect(late).rejects.toBeInstanceOf(Error)
    await expect(app.enqueue(job, undefined, { tx })).rejects.toBeInstanceOf(Error)
    expect(await effects()).toEqual(["inside"])
  })

  it("frees the key of its run and makes room under its limit", async () => {
    const { app, job } = await openBooking(kit, (ctx) => ctx.transaction(async () => ctx.runId), {
      concurrency: 1,
    })
    const first = await app.enqueue(job, undefined, { key: "k", keyFor: "live" })
    const second = await app.enqueue(job)
    await app.drain()
    expect(await Promise.all([first.result(), second.result()])).toEqual([first.id, second.id])
    expect(await app.enqueue(job, undefined, { key: "k", keyFor: "live" })).toMatchObject({ created: true })
  })

  it("keeps the log lines from before it, in history", async () => {
    const { app, job } = await openBooking(kit, (ctx) => {
      ctx.log("before")
      return ctx.transaction(async () => void ctx.log("inside"))
    })
    const run = await app.enqueue(job)
    await app.drain()
    const [attempt] = await app.runs.attempts(run.id)
    expect(attempt?.logs).toMatchObject([{ message: "before" }, { message: "inside" }])
  })

  it("whose commit took effect without an answer is looked up: one success, one effect", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) => {
      app.database.meddle("commit", answerLost)
      return ctx.transaction((tx) => book(tx, "done").then(() => "done"))
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(await effects()).toEqual(["done"])
    expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "succeeded" }])
    expect(app.events.filter(({ type }) => type === "attempt.fenced")).toEqual([])
  })

  it("whose commit never arrived has failed, and the next attempt does the work", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) => {
      if (ctx.attempt === 1) app.database.meddle("commit", requestLost)
      return ctx.transaction((tx) => book(tx, `attempt ${ctx.attempt}`))
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await effects()).toEqual(["attempt 2"])
    expect((await app.runs.attempts(run.id)).map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"])
  })
})
