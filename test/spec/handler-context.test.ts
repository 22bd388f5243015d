/** What a handler learns about its attempt, and what it can record. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { defineJob, type JobContext } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }
const KIB = 1_024

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

/** A job that does what the test says with its context. */
function jobOf<T>(run: (ctx: JobContext) => Promise<T> | T, settings = {}) {
  return defineJob({
    name: "watched",
    retry: { attempts: 3, delay: 0 },
    ...settings,
    run: (_: undefined, ctx) => run(ctx),
  })
}

describe("the context of a handler", () => {
  it("describes the attempt completely", async () => {
    const seen: JobContext[] = []
    const job = jobOf((ctx) => void seen.push(ctx), { pool: "side" })
    await using app = await kit.app({ jobs: [job], at: "2026-03-01T09:00Z" })
    const run = await app.enqueue(job, undefined, { tenant: "acme", tags: ["a", "b"], delay: "90s" })
    await app.clock.advance("90s")
    const [attempt] = await app.runs.attempts(run.id)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      runId: run.id,
      attemptId: attempt?.id,
      attempt: 1,
      generation: 1,
      job: "watched",
      pool: "side",
      tenant: "acme",
      due: new Date("2026-03-01T09:01:30Z"),
      schedule: undefined,
      occurrence: undefined,
      tags: ["a", "b"],
      idempotencyKey: `run:${run.id}`,
      fencingToken: 1,
      lastFailure: undefined,
      signal: expect.any(AbortSignal),
      log: expect.any(Function),
      progress: expect.any(Function),
      transaction: expect.any(Function),
    })
  })

  it("names every attempt as history does, and knows the name before the attempt begins", async () => {
    const named: string[] = []
    const job = jobOf(({ attemptId, attempt }) => {
      named.push(attemptId)
      if (attempt < 3) throw new Error("again")
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    expect((await app.runs.attempts(run.id)).map(({ id }) => id)).toEqual(named)
    const started = app.events.flatMap((event) => (event.type === "attempt.started" ? [event.attemptId] : []))
    expect(started).toEqual(named)
    expect(new Set(named).size).toBe(3)
  })

  it("has a fencing token that grows with every claim: after a failure, a release, a loss and a replay", async () => {
    const tokens: number[] = []
    const keys = new Set<string>()
    const gate = createGate()
    const steps = ["fail", "release", "lose", "die", "succeed"]
    const job = jobOf(
      async ({ fencingToken, idempotencyKey, signal }) => {
        tokens.push(fencingToken)
        keys.add(idempotencyKey)
        const step = steps.shift()
        if (step === "fail") throw new Error("again")
        if (step === "die") throw Object.assign(new Error("over"), { code: "OVER" })
        if (step === "succeed") return
        gate.open()
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      },
      { retry: { attempts: 9, delay: 0, final: ["OVER"] } },
    )
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    await app.until("attempt.finished", ({ outcome }) => outcome === "failed")
    await app.tick()
    await app.stop({ grace: 0 })
    await app.restart()
    await app.tick()
    await app.stealLease()
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ state: "dead" })
    await app.deadLetters.replay(run.id, by)
    await app.drain()
    expect(steps).toEqual([])
    expect(tokens).toEqual([1, 2, 3, 4, 5])
    expect([...keys]).toEqual([`run:${run.id}`])
  })
})

describe("the log of an attempt", () => {
  it("keeps lines in their order, with their data, in the record of that attempt", async () => {
    const job = jobOf(({ log, attempt }) => {
      log(`one of attempt ${attempt}`)
      log("two", { deep: [1] })
      if (attempt === 1) throw new Error("again")
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    const logs = (await app.runs.attempts(run.id)).map((attempt) => attempt.logs)
    expect(logs).toMatchObject([
      [{ message: "one of attempt 1" }, { message: "two", data: { deep: [1] } }],
      [{ message: "one of attempt 2" }, { message: "two" }],
    ])
  })

  it("keeps 256 KiB, and counts the lines beyond that", async () => {
    const line = "x".repeat(1_000)
    const job = jobOf(({ log }) => {
      for (let lines = 0; lines < 1_000; lines += 1) log(line)
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    const logs = (await app.runs.attempts(run.id))[0]?.logs ?? []
    const bytes = Buffer.byteLength(JSON.stringify(logs))
    expect(bytes).toBeLessThanOrEqual(256 * KIB + 100)
    expect(bytes).toBeGreaterThan(250 * KIB)
    expect(logs.at(-1)).toEqual({ dropped: 1_000 - (logs.length - 1) })
  })

  it("is measured in bytes, not in letters", async () => {
    const job = jobOf(({ log }) => {
      for (let lines = 0; lines < 1_000; lines += 1) log("🎉".repeat(500))
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    const bytes = Buffer.byteLength(JSON.stringify((await app.runs.attempts(run.id))[0]?.logs))
    expect(bytes).toBeLessThanOrEqual(256 * KIB + 100)
  })

  it("replaces values that cannot be kept: the run does not fail for them", async () => {
    const job = jobOf(({ log }) => {
      const cycle: { self?: unknown } = {}
      cycle.self = cycle
      log("a\0b \ud800", { nul: "\0", lone: "\udfff" })
      log("cycle", cycle)
      log("bigint", 1n)
      log("huge", "y".repeat(1_000_000))
      log("z".repeat(1_000_000))
      log(undefined as unknown as string)
      const broken = () => {
        throw new Error("broken")
      }
      log("fails", { toJSON: broken })
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await run.result()
    const logs = (await app.runs.attempts(run.id))[0]?.logs ?? []
    expect(logs).toHaveLength(7)
    expect(logs).toMatchObject([
      { data: { nul: "\0" } },
      { message: "cycle", data: "(not kept)" },
      {},
      {},
      {},
      {},
      {},
    ])
  })

  it("is absent where nothing was logged", async () => {
    const job = jobOf(() => {})
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    expect(Object.keys((await app.runs.attempts(run.id))[0] ?? {})).not.toEqual(
      expect.arrayContaining(["logs"]),
    )
  })
})

describe("the progress of a handler", () => {
  it("is visible while the handler runs, its last value always, and is gone at the retry", async () => {
    const gate = createGate()
    const job = jobOf(
      async ({ progress, attempt }) => {
        if (attempt === 2) return
        for (let done = 1; done <= 50; done += 1) progress({ done, of: 50 })
        await gate.opened
        throw new Error("again")
      },
      { retry: { attempts: 2, delay: "1h" } },
    )
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    const seen = async () => (await app.runs.get(run.id))?.progress
    expect(await vi.waitUntil(seen, { timeout: 10_000 })).toMatchObject({ of: 50 })
    await vi.waitUntil(async () => JSON.stringify(await seen()) === '{"done":50,"of":50}', {
      timeout: 10_000,
    })
    // Fifty updates, two writes: the first, and the last.
    expect(app.database.count("runs/record-progress")).toBe(2)
    gate.open()
    await app.drain()
    expect(await app.runs.get(run.id)).toMatchObject({ state: "waiting" })
    expect(await seen()).toBeUndefined()
  })

  it("that cannot be kept is refused at the call", async () => {
    const job = jobOf(({ progress }) => progress({ n: 1n }), { retry: { attempts: 3 } })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "PAYLOAD_INVALID" } })
  })
})
