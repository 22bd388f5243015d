/** Async contexts (AsyncLocalStorage): each handler and each listener has its own, and callers keep theirs. */
import { AsyncLocalStorage } from "node:async_hooks"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { z } from "zod"
import { type CarillonOptions, defineJob, type JobContext } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn, createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

/** What applications keep in an async context: a request, a tenant or a trace. */
const requests = new AsyncLocalStorage<string>()
const seen = () => requests.getStore()

/** A process as in production: an enqueue may start its run by itself. */
async function started(options: CarillonOptions) {
  const { carillon } = carillonOn(SERVER_URLS.postgres18, options)
  onTestFinished(() => carillon.stop({ grace: 0 }))
  await carillon.start()
  return carillon
}

describe("the async context of a caller that enqueues", () => {
  it("does not reach the handler, whether its run starts at once or with others", async () => {
    const job = defineJob({ name: "job", run: async () => seen() ?? "nothing" })
    const carillon = await started({ jobs: [job], pools: { default: 20 } })
    const alone = await requests.run("alone", () => carillon.enqueue(job))
    expect(await alone.result()).toBe("nothing")
    const many = await Promise.all(
      Array.from({ length: 100 }, (_, n) => requests.run(`request ${n}`, () => carillon.enqueue(job))),
    )
    const results = await Promise.all(many.map((run) => run.result()))
    expect(new Set(results)).toEqual(new Set(["nothing"]))
  })

  it("reaches the schema at the enqueue, and not when the handler starts", async () => {
    const parsed: unknown[] = []
    const input = z.string().refine(() => parsed.push(seen()) > 0)
    const job = defineJob({ name: "job", input, run: async () => {} })
    const carillon = await started({ jobs: [job] })
    const run = await requests.run("request", () => carillon.enqueue(job, "x"))
    await run.result()
    expect(parsed).toEqual(["request", undefined])
  })

  it("stays its own while it waits for a result", async () => {
    const job = defineJob({
      name: "job",
      run: async () => requests.run("in the handler", async () => seen()),
    })
    const carillon = await started({ jobs: [job] })
    const after = await Promise.all(
      ["a", "b", "c"].map((name) =>
        requests.run(name, async () => {
          const run = await carillon.enqueue(job)
          return [await run.result(), seen()]
        }),
      ),
    )
    expect(after).toEqual(["a", "b", "c"].map((name) => ["in the handler", name]))
  })

  it("does not reach a listener", async () => {
    const heard: unknown[] = []
    const job = defineJob({ name: "job", run: async () => {} })
    const carillon = await started({ jobs: [job] })
    carillon.subscribe((event) => void heard.push([event.type, seen()]))
    const run = await requests.run("request", () => carillon.enqueue(job))
    await requests.run("waiter", () => run.result())
    await carillon.stop()
    expect(heard.length).toBeGreaterThanOrEqual(3)
    expect(heard.filter((entry) => (entry as unknown[])[1] !== undefined)).toEqual([])
  })

  it("does not reach a retry function", async () => {
    const asked: unknown[] = []
    const after = () => {
      asked.push(seen())
      return null
    }
    const job = defineJob({ name: "job", timeout: "20ms", retry: { after }, run: ending })
    const carillon = await started({ jobs: [job] })
    const run = await requests.run("request", () => carillon.enqueue(job))
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(asked).toEqual([undefined])
  })

  it("does not reach a handler that is told to end", async () => {
    const told: unknown[] = []
    const begun = createGate()
    const job = defineJob({
      name: "job",
      run: (_: undefined, { signal }) =>
        requests.run("in the handler", async () => {
          signal.addEventListener("abort", () => void told.push(seen()))
          begun.open()
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          told.push(seen())
        }),
    })
    const carillon = await started({ jobs: [job] })
    const run = await carillon.enqueue(job)
    await begun.opened
    await requests.run("canceller", () => carillon.runs.cancel(run.id, by))
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" })
    // A listener is called in the context of the attempt. What the handler awaits continues in the handler's context.
    expect(told).toEqual([undefined, "in the handler"])
  })
})

/** Ends when its signal aborts. */
async function ending(_: undefined, { signal }: JobContext): Promise<void> {
  await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
}

describe("the async context of a handler", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(SERVER_URLS.postgres18)
  })
  afterAll(() => kit.close())

  it("does not leak into the next handler, also after enterWith", async () => {
    const before: unknown[] = []
    const job = defineJob({
      name: "job",
      run: async (name: string) => {
        before.push(seen())
        requests.enterWith(name)
        await Promise.resolve()
        return seen()
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    const runs = await app.enqueueMany(job, [{ input: "a" }, { input: "b" }, { input: "c" }])
    await app.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(["a", "b", "c"])
    expect(before).toEqual([undefined, undefined, undefined])
  })

  it("is that of its transaction, and of what it enqueues, while it waits", async () => {
    const job = defineJob({
      name: "job",
      run: (_: undefined, ctx) =>
        requests.run("tenant", () =>
          ctx.transaction(async (tx) => {
            await tx.query("select 1")
            return seen()
          }),
        ),
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("tenant")
  })

  it("holds what was there when Carillon was created, and nothing of the caller that starts it", async () => {
    const job = defineJob({ name: "job", run: async () => seen() })
    const { carillon } = requests.run("creator", () => carillonOn(SERVER_URLS.postgres18, { jobs: [job] }))
    onTestFinished(() => carillon.stop({ grace: 0 }))
    await requests.run("starter", () => carillon.start())
    const run = await requests.run("request", () => carillon.enqueue(job))
    expect(await run.result()).toBe("creator")
  })
})
