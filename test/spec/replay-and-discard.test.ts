/** Replaying and discarding dead runs by hand. Each leaves an audit record of who did it and why. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type JobContext } from "../../src/index.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "the customer called" }
const UNKNOWN_RUN = "01900000-0000-7000-8000-000000000000"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

const auditOf = (app: WatchedApp, id: string) =>
  rowsOf(
    app.database,
    `select actor, action, reason, before, after from {audit} where subject = 'run:${id}' order by at`,
  )

describe("a dead run", () => {
  const contexts: JobContext[] = []
  let lives = 0
  const mortal = defineJob({
    name: "mortal",
    retry: { attempts: 5, delay: 0 },
    run: async (input: unknown, ctx) => {
      contexts.push(ctx)
      if (ctx.generation <= lives) throw new Error(`no, generation ${ctx.generation}`)
      return input
    },
  })
  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [mortal], at: "2026-03-01T09:00Z" })
  })
  afterAll(() => app.close())

  /** A run that has died as often as the given lives. */
  async function dead(options = {}) {
    contexts.length = 0
    lives = 1
    const run = await app.enqueue(mortal, { kept: true }, { retry: { attempts: 2, delay: 0 }, ...options })
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    return run
  }

  const letters = (id: string) => rowsOf(app.database, `select from {dead_letters} where run = '${id}'`)

  it("that is replayed lives again with all its attempts, as its next generation", async () => {
    const run = await dead({ tags: ["a"], tenant: "acme", priority: 3 })
    lives = 2
    await app.deadLetters.replay(run.id, by)
    expect(await app.runs.get(run.id)).toMatchObject({
      generation: 2,
      attempt: 0,
      input: { kept: true },
      tags: ["a"],
      tenant: "acme",
      priority: 3,
    })
    expect(await letters(run.id)).toEqual([])
    const over = expect(app.runs.wait(run.id)).resolves.toMatchObject({
      error: { message: "no, generation 2" },
    })
    await app.drain()
    await over
    await app.deadLetters.replay(run.id, by)
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ result: { kept: true } })
    expect(
      (await app.runs.attempts(run.id)).map(({ generation, attempt, cause }) => [generation, attempt, cause]),
    ).toEqual([
      [1, 1, undefined],
      [1, 2, "failed"],
      [2, 1, "replayed"],
      [2, 2, "failed"],
      [3, 1, "replayed"],
    ])
  })

  it("that is replayed keeps its idempotency key, and its fencing token grows", async () => {
    const run = await dead()
    await app.deadLetters.replay(run.id, by)
    await app.drain()
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([`run:${run.id}`]))
    expect(contexts.map(({ fencingToken }) => fencingToken)).toEqual([1, 2, 3])
    expect(new Set((await app.runs.attempts(run.id)).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(
      1,
    )
  })

  it("is waited for in its new life by a call after the replay", async () => {
    const run = await dead()
    await app.deadLetters.replay(run.id, by)
    const result = app.runs.wait(run.id)
    await app.drain()
    expect(await result).toMatchObject({ result: { kept: true } })
  })

  it("that is replayed or discarded leaves an audit record of who did it and why", async () => {
    const [one, two] = [await dead(), await dead()]
    await app.deadLetters.replay(one.id, by)
    await app.deadLetters.discard(two.id, by)
    const who = { actor: "ada", reason: "the customer called" }
    expect(await auditOf(app, one.id)).toEqual([
      { ...who, action: "run.replay", before: { generation: 1 }, after: { generation: 2 } },
    ])
    expect(await auditOf(app, two.id)).toEqual([
      { ...who, action: "run.discard", before: { job: "mortal", generation: 1 }, after: null },
    ])
  })

  it("that is discarded leaves the dead letters, and stays in history", async () => {
    const run = await dead()
    await app.deadLetters.discard(run.id, by)
    expect(await letters(run.id)).toEqual([])
    expect(await app.runs.attempts(run.id)).toHaveLength(2)
    await expect(app.deadLetters.replay(run.id, by)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" })
    await expect(app.deadLetters.discard(run.id, by)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" })
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ state: "discarded" })
  })

  it("is replayed once by many concurrent calls", async () => {
    const run = await dead()
    const asked = await Promise.allSettled([1, 2, 3].map(() => app.deadLetters.replay(run.id, by)))
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    await app.drain()
    expect((await app.runs.attempts(run.id)).filter(({ generation }) => generation === 2)).toHaveLength(1)
    expect(await auditOf(app, run.id)).toHaveLength(1)
  })

  it.each(["replay", "discard"] as const)(
    "stays dead when the audit record of its %s cannot be written",
    async (action) => {
      const run = await dead()
      await execute(app.database, "alter table {audit} add constraint audit_is_full check (false) not valid")
      await expect(app.deadLetters[action](run.id, by)).rejects.toThrow("audit_is_full")
      await execute(app.database, "alter table {audit} drop constraint audit_is_full")
      expect(await letters(run.id)).toHaveLength(1)
      expect(await app.runs.get(run.id)).toMatchObject({ state: "dead" })
    },
  )

  it.each(["replay", "discard"] as const)(
    "is the only run to %s: others are not among the dead letters",
    async (action) => {
      const alive = await app.enqueue(mortal, 1, { delay: "1h" })
      for (const id of [alive.id, UNKNOWN_RUN]) {
        await expect(app.deadLetters[action](id, by)).rejects.toMatchObject({
          code: "RUN_NOT_FOUND",
          runId: id,
        })
      }
      await expect(app.deadLetters[action](alive.id, { actor: "ada", reason: "" })).rejects.toMatchObject({
        faults: [{ path: "reason" }],
      })
      expect(await app.runs.get(alive.id)).toMatchObject({ state: "waiting" })
      await app.runs.cancel(alive.id, by)
    },
  )

  it("that was under a limit is under it again", async () => {
    let failing = true
    const limited = defineJob({
      name: "limited",
      concurrency: 1,
      retry: { attempts: 1 },
      run: async () => (failing ? Promise.reject(new Error("no")) : "done"),
    })
    await using alone = await kit.app({ jobs: [limited] })
    const runs = await alone.enqueueMany(limited, [{ concurrencyKey: "k" }, { concurrencyKey: "k" }])
    await alone.drain()
    failing = false
    for (const { id } of runs) await alone.deadLetters.replay(id, by)
    for (const { id } of runs)
      expect(await alone.runs.get(id)).toMatchObject({ state: "parked", parkedFor: "limit" })
    await alone.drain()
    expect(await Promise.all(runs.map(({ id }) => alone.runs.wait(id)))).toMatchObject([
      { result: "done" },
      { result: "done" },
    ])
  })
})
