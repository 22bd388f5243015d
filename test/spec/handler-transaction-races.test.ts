/** `ctx.transaction` in races: lost leases, cancelled runs, taken connections, lost answers. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { openServer } from "../../src/store/server/server.ts"
import { openBooking } from "../support/booking-job.ts"
import { newSchema } from "../support/engines.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"
import { createWatchedKit, SILENT, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

describe("a transaction of a handler, in a race", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(SERVER_URLS.postgres18)
  })
  afterAll(() => kit.close())

  it("shows nothing before it commits", async () => {
    const seen: unknown[] = []
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, "done")
        seen.push(await effects(), await app.runs.get(ctx.runId))
      }),
    )
    await app.enqueue(job)
    await app.drain()
    expect(seen).toMatchObject([[], { state: "running" }])
    expect(await effects()).toEqual(["done"])
  })

  it("under a lease that is lost before its commit writes nothing", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, `claim ${ctx.fencingToken}`)
        if (ctx.fencingToken === 1) await app.stealLease()
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    await app.drain()
    expect(await effects()).toEqual(["claim 2"])
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { outcome: "lost", charged: false },
      { outcome: "succeeded", cause: "lost" },
    ])
  })

  it("of a run that is cancelled before its commit writes nothing, and the run is cancelled", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, "x")
        await app.runs.cancel(ctx.runId, by)
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" })
    expect(await effects()).toEqual([])
    expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "cancelled", runState: "cancelled" }])
  })

  it("of a run cancelled elsewhere before its commit writes nothing, though the wake-up was lost", async () => {
    const { app, job, effects } = await openBooking(kit, (ctx, book) =>
      ctx.transaction(async (tx) => {
        await book(tx, "x")
        await other.runs.cancel(ctx.runId, by)
      }),
    )
    await using other = await kit.beside(app)
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" })
    expect(await effects()).toEqual([])
  })

  it("that takes longer than the timeout writes nothing", async () => {
    const { app, job, effects } = await openBooking(
      kit,
      (ctx, book) =>
        ctx.transaction(async (tx) => {
          await book(tx, "x")
          await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve))
        }),
      { timeout: "50ms", retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "ATTEMPT_TIMEOUT" } })
    expect(await effects()).toEqual([])
  })

  it("whose commit is in flight when its timeout is over has succeeded, and is reported so", async () => {
    const { app, job, effects } = await openBooking(
      kit,
      (ctx, book) =>
        ctx.transaction(async (tx) => {
          await book(tx, "x")
          // The settle of the run has to wait for this row, until the timeout is over.
          const held = await hold(app.database, `select from {runs} where id = '${ctx.runId}' for update`)
          ctx.signal.addEventListener("abort", () => void held.release())
          return "done"
        }),
      { timeout: "300ms", retry: { attempts: 1 } },
    )
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(await effects()).toEqual(["x"])
    const told = app.events.filter(({ type }) => type === "attempt.finished" || type === "attempt.fenced")
    expect(told).toMatchObject([{ type: "attempt.finished", outcome: "succeeded", runState: "succeeded" }])
  })

  it("takes no connection away from Carillon itself, however many are open", async () => {
    const gate = createGate()
    let open = 0
    const holding = defineJob({
      name: "holding",
      pool: "holding",
      run: (_: undefined, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.query("select 1")
          open += 1
          await gate.opened
        }),
    })
    const quick = defineJob({ name: "quick", run: async () => "quick" })
    await using app = await kit.app({ jobs: [holding, quick], pools: { holding: 30, default: 1 } })
    const held = await app.enqueueMany(
      holding,
      Array.from({ length: 30 }, () => ({})),
    )
    await app.tick()
    // As many as there are connections for; the others wait for those.
    await vi.waitUntil(() => open === 10, { timeout: 10_000 })
    const run = await app.enqueue(quick)
    await app.tick()
    await app.until("attempt.finished", (event) => event.run === run.id)
    gate.open()
    await app.drain()
    await Promise.all(held.map((each) => each.result()))
    expect(open).toBe(30)
  })

  it("survives a network that loses the answer to its commit: one success, one effect", async () => {
    const proxy = await openFaultyNetwork(SERVER_URLS.postgres18)
    const schema = newSchema(createSystemHost())
    const job = defineJob({
      name: "booking",
      retry: { attempts: 1 },
      run: (_: undefined, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.query(`insert into "${schema}".effects values ($1)`, [ctx.runId])
          // The next commit is most likely this one; otherwise it is one of the next four.
          proxy.cutInsteadOf("COMMIT")
          return ctx.runId
        }),
    })
    const carillon = createCarillon({ database: proxy.url, schema, jobs: [job], logger: SILENT })
    onTestFinished(async () => {
      await carillon.stop({ grace: 0 })
      await proxy.close()
    })
    await carillon.migrate()
    await using direct = openDirect(schema)
    await execute(direct, "create table {effects} (what text)")
    await carillon.start()
    for (let times = 1; times <= 5; times += 1) {
      const run = await carillon.enqueue(job)
      expect(await run.result()).toBe(run.id)
      expect(await carillon.runs.attempts(run.id)).toMatchObject([{ outcome: "succeeded" }])
      expect(await rowsOf(direct, `select from {effects} where what = '${run.id}'`)).toHaveLength(1)
    }
  })
})

function openDirect(schema: string) {
  const database = openServer(createSystemHost(), { url: SERVER_URLS.postgres18, schema })
  return { ...database, [Symbol.asyncDispose]: () => database.close() }
}

describe("a call beside an open transaction of a handler, in memory", () => {
  it("fails at once with its own code, instead of waiting for itself", async () => {
    const kit = await createWatchedKit()
    onTestFinished(() => kit.close())
    const { app, job } = await openBooking(kit, (ctx) =>
      ctx.transaction(async () => {
        const refused = await app.enqueue(job).catch((error: { code: string }) => error.code)
        const many = await app.enqueueMany(job, [{}, {}]).catch((error: { code: string }) => error.code)
        return [refused, many]
      }),
    )
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toEqual(["TRANSACTION_NESTED", "TRANSACTION_NESTED"])
  })
})
