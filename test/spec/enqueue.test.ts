/** What an enqueue can say about a run, and what that does. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type JobContext, type OptionsError } from "../../src/index.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

describe("a run that is enqueued", () => {
  const contexts: JobContext[] = []
  const seen = (id: string) => contexts.filter(({ runId }) => runId === id)
  const kept = defineJob({
    name: "kept",
    pool: "main",
    run: async (input: unknown, ctx) => {
      contexts.push(ctx)
      return input
    },
  })
  const failing = defineJob({
    name: "failing",
    pool: "main",
    retry: { attempts: 5, delay: "1m", final: ["Hopeless"] },
    run: async (name: string) => {
      throw Object.assign(new Error("no"), { name })
    },
  })
  const slow = defineJob({
    name: "slow",
    pool: "main",
    retry: { attempts: 1 },
    run: (_: undefined, { signal }) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason))
      }),
  })

  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [kept, failing, slow], pools: { main: 5, side: 1 } })
  })
  afterAll(() => app.close())

  it("with a delay is due that much later by the database's clock, and exists until then", async () => {
    const now = await app.clock.now()
    const run = await app.enqueue(kept, 1, { delay: "90s" })
    expect(await app.runs.get(run.id)).toMatchObject({
      state: "waiting",
      enqueuedAt: now,
      dueAt: new Date(+now + 90_000),
    })
    await app.drain()
    expect(seen(run.id)).toEqual([])
    await app.clock.advance("90s")
    expect(seen(run.id)).toMatchObject([{ due: new Date(+now + 90_000) }])
  })

  it("with a time in the past is ready at once, and keeps that time", async () => {
    const run = await app.enqueue(kept, 1, { runAt: new Date("2020-05-05T05:05:05.005Z") })
    expect(await app.runs.get(run.id)).toMatchObject({
      state: "ready",
      dueAt: new Date("2020-05-05T05:05:05.005Z"),
    })
    await app.drain()
    expect(seen(run.id)).toMatchObject([{ due: new Date("2020-05-05T05:05:05.005Z") }])
  })

  it("without a delay is due now, and so is one with a delay of zero", async () => {
    const now = await app.clock.now()
    const run = await app.enqueue(kept, 1, { delay: 0 })
    await app.drain()
    expect(seen(run.id)).toMatchObject([{ due: now }])
  })

  it("keeps every option of the enqueue", async () => {
    const now = await app.clock.now()
    const run = await app.enqueue(
      kept,
      { any: ["thing"] },
      {
        priority: -7,
        tenant: "acme",
        pool: "side",
        tags: ["a", "b ü"],
        key: "k",
        startWithin: "1h",
        delay: 1,
      },
    )
    expect(await app.runs.get(run.id)).toEqual({
      id: run.id,
      job: "kept",
      pool: "side",
      tenant: "acme",
      priority: -7,
      state: "waiting",
      attempt: 0,
      generation: 1,
      enqueuedAt: now,
      dueAt: new Date(+now + 1),
      startBy: new Date(+now + 3_600_001),
      key: "k",
      tags: ["a", "b ü"],
      input: { any: ["thing"] },
      idempotencyKey: `run:${run.id}`,
    })
    await app.clock.advance(1)
    expect(seen(run.id)).toMatchObject([{ tenant: "acme", pool: "side", tags: ["a", "b ü"] }])
    expect(await app.runs.attempts(run.id)).toMatchObject([{ tenant: "acme", pool: "side" }])
    expect(await app.runs.get(run.id)).toMatchObject({ state: "succeeded" })
  })

  it("without options has the defaults of its job", async () => {
    const run = await app.enqueue(kept, null)
    const record = await app.runs.get(run.id)
    expect(record).toMatchObject({ pool: "main", priority: 0 })
    expect(Object.keys(record ?? {})).not.toEqual(expect.arrayContaining(["tenant", "tags"]))
    await app.drain()
    expect(seen(run.id)).toMatchObject([{ tenant: undefined, tags: [], schedule: undefined }])
  })

  it("with its own timeout is held to that", async () => {
    const run = await app.enqueue(slow, undefined, { timeout: "20ms" })
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "ATTEMPT_TIMEOUT" } })
  })

  it("with its own retry policy follows that policy as a whole", async () => {
    const run = await app.enqueue(failing, "Unlucky", { retry: { delays: ["1s", "1h"] } })
    await app.clock.advance("2h")
    const attempts = await app.runs.attempts(run.id)
    expect(attempts.map(({ attempt, runState }) => [attempt, runState])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, "dead"],
    ])
    const waits = attempts.slice(1).map(({ dueAt }, index) => +dueAt - +(attempts[index]?.finishedAt ?? 0))
    expect(waits).toEqual([1_000, 3_600_000])
  })

  it("with its own retry policy still ends at errors that the job calls final", async () => {
    const run = await app.enqueue(failing, "Hopeless", { retry: { attempts: 9 } })
    await app.clock.advance("1d")
    expect(await app.runs.attempts(run.id)).toMatchObject([{ runState: "dead" }])
  })

  it("is reported once, after it was written", async () => {
    const run = await app.enqueue(kept, 1, { pool: "side" })
    expect(app.events.filter((event) => event.type === "run.enqueued" && event.run === run.id)).toEqual([
      { type: "run.enqueued", run: run.id, job: "kept", pool: "side" },
    ])
  })
})

describe("an enqueue that is refused", () => {
  const plain = defineJob({ name: "plain", run: async (_: unknown) => {} })
  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [plain] })
  })
  afterAll(() => app.close())

  const refused = (options: object) =>
    app.enqueue(plain, 1, options).then(
      () => Promise.reject(new Error("it was accepted")),
      (error: OptionsError) => error,
    )

  it.each([
    ["delay", { delay: "soon" }, "soon"],
    ["delay", { delay: -1 }, "-1"],
    ["delay", { delay: Number.NaN }, "NaN"],
    ["delay", { delay: "1m", runAt: new Date() }, "expected either `delay` or `runAt`, got both"],
    ["runAt", { runAt: "tomorrow" }, "a Date"],
    ["runAt", { runAt: new Date(-1) }, "1970"],
    ["runAt", { runAt: new Date(Number.NaN) }, "a Date"],
    ["priority", { priority: 0.5 }, "0.5"],
    ["priority", { priority: 2_000_000 }, "2000000"],
    ["pool", { pool: "no spaces, please" }, "no spaces"],
    ["tenant", { tenant: "" }, "1 to 200"],
    ["tenant", { tenant: "a\0b" }, "without NUL"],
    ["key", { key: "\ud800" }, "lone surrogates"],
    ["key", { key: "x".repeat(501) }, "1 to 500"],
    ["key", { keyFor: "1h" }, "a `key` to hold"],
    ["keyFor", { key: "k", keyFor: 0 }, "0"],
    ["tags", { tags: Array.from({ length: 21 }, String) }, "at most 20"],
    ["tags[1]", { tags: ["fine", ""] }, "1 to 100"],
    ["timeout", { timeout: 0 }, "0"],
    ["startWithin", { startWithin: "late" }, "late"],
    ["retry.attempts", { retry: { attempts: 0 } }, "0"],
    ["retry.after", { retry: { after: () => 1 } }, "unknown option"],
    ["retry", { retry: { delay: "1s", delays: ["1s"] } }, "set one kind of wait"],
    ["concurrencyKey", { concurrencyKey: "k" }, "has no `concurrency`"],
    ["tx", { tx: "begin" }, "a node-postgres client"],
  ])("because of %s names it and says what was expected (%#)", async (path, options, hint) => {
    const error = await refused(options)
    expect(error).toMatchObject({ name: "OptionsError", code: "OPTIONS_INVALID" })
    expect(error.faults.find((fault) => fault.path === path)?.message).toContain(hint)
    expect(error.message).toContain(path)
  })

  it.each([
    ["dealy", "delay"],
    ["prioritty", "priority"],
    ["concurencyKey", "concurrencyKey"],
    ["startwithin", "startWithin"],
    ["at", "runAt"],
    ["idempotencyKey", "key"],
  ])("because of an unknown option %s suggests the right one", async (wrong, meant) => {
    expect((await refused({ [wrong]: 1 })).faults).toEqual([
      { path: wrong, message: `unknown option; did you mean "${meant}"?` },
    ])
  })

  it("names every fault at once", async () => {
    const { faults } = await refused({
      dealy: 1,
      priority: "high",
      retry: { attempts: 0, base: "x" },
      tags: [7],
    })
    expect(faults.map(({ path }) => path)).toEqual([
      "dealy",
      "priority",
      "tags[0]",
      "retry.attempts",
      "retry.base",
    ])
  })

  it("because it got no job, or no options object, says so", async () => {
    await expect(app.enqueue({ name: "plain" } as unknown as typeof plain, 1)).rejects.toMatchObject({
      faults: [{ path: "job" }],
    })
    await expect(app.enqueue(plain, 1, 7 as unknown as object)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
    })
  })

  it("has not touched the database", async () => {
    const before = app.database.ran.length
    await refused({ delay: "soon" })
    await expect(app.enqueue(plain, { big: 1n })).rejects.toMatchObject({ code: "PAYLOAD_INVALID" })
    expect(app.database.ran.slice(before)).toEqual([])
    expect(await rowsOf(app.database, "select from {runs}")).toEqual([])
    expect(app.events.filter(({ type }) => type === "run.enqueued")).toEqual([])
  })
})
