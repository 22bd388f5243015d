/** How a transaction of a handler may end: by a verdict, not awaited, too late, or on a day without a partition. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { Bury, Cancel, type HandlerTransaction, type JobContext, Retry, Snooze } from "../../src/index.ts"
import { openBooking } from "../support/booking-job.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const places = (["memory", "postgres18"] as const).map((where) => [where] as const)

/** The unhandled rejections of a test; in a process of its own each would end it. */
function watchRejections(): unknown[] {
  const seen: unknown[] = []
  const note = (reason: unknown) => void seen.push(reason)
  process.on("unhandledRejection", note)
  onTestFinished(() => void process.off("unhandledRejection", note))
  return seen
}

/** Blocks the event loop for this long. */
function block(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

/** Moves the clock of a schema, from inside a transaction. */
const DAYS_GO_BY = (schema: string) => `update "${schema}".test_clock set at = at + interval '50 days'`

/** Unhandled rejections are reported when the microtasks are done. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe.each(places)("a transaction of a handler, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  it.each([
    ["Retry", () => Retry({ after: 0, reason: "busy" }), "failed", "succeeded"],
    ["Snooze", () => Snooze(0), "snoozed", "succeeded"],
    ["Cancel", () => Cancel("gone"), "cancelled", undefined],
    ["Bury", () => Bury("never"), "failed", undefined],
  ] as const)(
    "whose body returns %s writes nothing, and the verdict holds",
    async (_, verdict, first, second) => {
      let calls = 0
      const { app, job, effects } = await openBooking(kit, (ctx, book) =>
        ctx.transaction(async (tx) => {
          calls += 1
          await book(tx, `call ${calls}`)
          return calls === 1 ? verdict() : "done"
        }),
      )
      const run = await app.enqueue(job)
      await app.drain()
      const outcomes = (await app.runs.attempts(run.id)).map(({ outcome }) => outcome)
      expect(outcomes).toEqual(second ? [first, second] : [first])
      expect(await effects()).toEqual(second ? ["call 2"] : [])
      if (second) expect(await run.result()).toBe("done")
      else await expect(run.result()).rejects.toMatchObject({ name: "RunError" })
    },
  )

  it("that is not awaited still completes the run", async () => {
    const { app, job, effects } = await openBooking(kit, async (ctx, book) => {
      void ctx.transaction(async (tx) => {
        await book(tx, "done")
        return "of the transaction"
      })
      return "of the handler"
    })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("of the transaction")
    expect(await effects()).toEqual(["done"])
    expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "succeeded" }])
  })

  it("that is not awaited and fails makes the attempt fail, and the process survives", async () => {
    const rejections = watchRejections()
    const { app, job, effects } = await openBooking(
      kit,
      async (ctx, book) => {
        void ctx.transaction(async (tx) => {
          await book(tx, "half")
          throw new Error("in the transaction")
        })
        return "of the handler"
      },
      { retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { message: "in the transaction" } })
    expect(await effects()).toEqual([])
    await nextTurn()
    expect(rejections).toEqual([])
  })

  it("that is open when its handler throws writes nothing", async () => {
    const rejections = watchRejections()
    const gate = createGate()
    const begun = createGate()
    const { app, job, effects } = await openBooking(
      kit,
      async (ctx, book) => {
        void ctx.transaction(async (tx) => {
          await book(tx, "half")
          begun.open()
          await gate.opened
        })
        await begun.opened
        throw new Error("meanwhile")
      },
      { retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    // In memory no other call is answered while the transaction is open.
    const ticking = app.tick()
    await begun.opened
    await nextTurn()
    gate.open()
    await ticking
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { message: "meanwhile" } })
    expect(await effects()).toEqual([])
    await nextTurn()
    expect(rejections).toEqual([])
  })

  it("that begins after its handler has ended is refused, and a statement left unawaited ends no process", async () => {
    const rejections = watchRejections()
    let kept: JobContext | undefined
    let keptTx: HandlerTransaction | undefined
    const { app, job } = await openBooking(kit, async (ctx, book) => {
      kept = ctx
      return ctx.transaction(async (tx) => {
        keptTx = tx
        await book(tx, "done")
      })
    })
    await app.enqueue(job)
    await app.drain()
    const late = kept?.transaction(async () => "late")
    await expect(late).rejects.toMatchObject({ code: "TRANSACTION_OVER" })
    void kept?.transaction(async () => "late")
    void keptTx?.query("select 1")
    await nextTurn()
    expect(rejections).toEqual([])
  })

  it("that blocks the event loop beyond its timeout writes nothing, and has timed out", async () => {
    const { app, job, effects } = await openBooking(
      kit,
      (ctx, book) =>
        ctx.transaction(async (tx) => {
          await book(tx, "late")
          block(60)
        }),
      { timeout: 50, retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "ATTEMPT_TIMEOUT" } })
    expect(await effects()).toEqual([])
  })

  it("once committed has succeeded, however late its handler ends", async () => {
    const { app, job, effects } = await openBooking(
      kit,
      async (ctx, book) => {
        await ctx.transaction((tx) => book(tx, "done").then(() => "done"))
        block(2_000)
      },
      { timeout: 2_000, retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(await effects()).toEqual(["done"])
  })

  it.each(["before it begins", "while it is open"])(
    "finds its day in history, also when days have passed %s: its body runs once, uncharged",
    async (when) => {
      let bodies = 0
      const { app, job, effects } = await openBooking(kit, (ctx, book) =>
        ctx.transaction(async (tx) => {
          bodies += 1
          await book(tx, "done")
          if (when === "while it is open") await tx.query(DAYS_GO_BY(app.database.schema))
          return "done"
        }),
      )
      if (when === "before it begins") await app.clock.set("2026-04-20T09:00Z")
      const run = await app.enqueue(job)
      await app.drain()
      expect(await run.result()).toBe("done")
      expect(await effects()).toEqual(["done"])
      expect(bodies).toBe(1)
      expect(await app.runs.attempts(run.id)).toMatchObject([
        { attempt: 1, outcome: "succeeded", charged: true },
      ])
    },
  )
})
