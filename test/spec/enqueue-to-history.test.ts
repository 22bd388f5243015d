import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { defineJob, InputError, type JobContext, PayloadError, RunError } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const greet = defineJob({
  name: "greet",
  input: z.object({ who: z.string().trim(), when: z.coerce.date().optional() }),
  run: async ({ who }) => `hello ${who}`,
})

const places = (["memory", "postgres14", "postgres18"] as const).filter(
  (place) => place === "memory" || SERVER_URLS[place] !== "",
)

describe.each(places)("a run, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  it("goes from enqueue to result to history", async () => {
    await using app = await kit.app({ jobs: [greet], at: "2026-03-01T09:00Z" })
    const run = await app.enqueue(greet, { who: "ada" })
    expect(run).toMatchObject({ created: true })
    await app.drain()
    expect(await run.result()).toBe("hello ada")
    expect(await app.runs.attempts(run.id)).toMatchObject([
      {
        runId: run.id,
        attempt: 1,
        job: "greet",
        pool: "default",
        outcome: "succeeded",
        runState: "succeeded",
        enqueuedAt: new Date("2026-03-01T09:00Z"),
        dueAt: new Date("2026-03-01T09:00Z"),
        finishedAt: new Date("2026-03-01T09:00Z"),
      },
    ])
  })

  it("gives the handler what the schema makes of the input", async () => {
    await using app = await kit.app({ jobs: [greet] })
    const run = await app.enqueue(greet, { who: "  ada  " })
    await app.drain()
    expect(await run.result()).toBe("hello ada")
  })

  it("tells the handler about the attempt, and gives every attempt the same idempotency key", async () => {
    const seen: JobContext[] = []
    const job = defineJob({
      name: "watched",
      pool: "side",
      retry: { attempts: 2, base: 0 },
      run: async (_: undefined, ctx) => {
        seen.push(ctx)
        if (ctx.attempt === 1) throw new Error("again, please")
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-01T09:00Z" })
    const run = await app.enqueue(job)
    await app.drain()
    expect(seen).toMatchObject([
      { runId: run.id, attempt: 1, job: "watched", pool: "side", due: new Date("2026-03-01T09:00Z") },
      { runId: run.id, attempt: 2, job: "watched", pool: "side" },
    ])
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([`run:${run.id}`]))
    expect(seen.every(({ signal }) => signal instanceof AbortSignal && !signal.aborted)).toBe(true)
  })

  it("keeps inputs and results exactly as they were", async () => {
    const echo = defineJob({ name: "echo", run: async (input: unknown) => input })
    await using app = await kit.app({ jobs: [echo] })
    const value = JSON.parse(
      '{"z":1,"a":[null,true,-0.5,1e21,"\\u0000 \\ud800 ü 🎉 \\"\\\\ \\n"],"__proto__":{"x":1},"":{}}',
    )
    const run = await app.enqueue(echo, value)
    const nothing = await app.enqueue(echo, undefined)
    await app.drain()
    expect(JSON.stringify(await run.result())).toBe(JSON.stringify(value))
    expect(await nothing.result()).toBeNull()
  })

  it("is refused at enqueue when the input is wrong, and nothing is written", async () => {
    await using app = await kit.app({ jobs: [greet] })
    const wrong = { who: 7, when: "yesterday" } as unknown as { who: string }
    const error = await app.enqueue(greet, wrong).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InputError)
    expect(error).toMatchObject({ code: "INPUT_INVALID", job: "greet" })
    expect((error as InputError).issues.map(({ path }) => path)).toEqual(["who", "when"])
    await app.drain()
    expect(app.events.filter(({ type }) => type === "attempt.started")).toEqual([])
  })

  it("is refused at enqueue when the input would not survive JSON", async () => {
    // @ts-expect-error the compiler knows as well
    const dated = defineJob({ name: "dated", input: z.object({ on: z.date() }), run: async () => {} })
    await using app = await kit.app({ jobs: [dated] })
    // A Date becomes text on its way through the database: the handler would have received that.
    await expect(app.enqueue(dated, { on: new Date() })).rejects.toMatchObject({ code: "INPUT_INVALID" })
    const free = defineJob({ name: "free", run: async (_: unknown) => {} })
    await expect(app.enqueue(free, { big: 1n })).rejects.toBeInstanceOf(PayloadError)
    await expect(app.enqueue(free, "x".repeat(1_100_000))).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
  })

  it("dies at once when its input no longer fits the job, and its handler does not start", async () => {
    const before = defineJob({ name: "moved", run: async (_: { old: number }) => {} })
    let started = 0
    const after = defineJob({
      name: "moved",
      input: z.object({ fresh: z.number() }),
      run: async () => {
        started += 1
      },
    })
    await using app = await kit.app({ jobs: [after] })
    const run = await app.enqueue(before, { old: 1 })
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "INPUT_INVALID" } })
    expect(started).toBe(0)
    expect(await app.runs.attempts(run.id)).toHaveLength(1)
  })

  it("is retried after a failure, with growing delays, until it succeeds", async () => {
    const job = defineJob({
      name: "third-time-lucky",
      retry: { attempts: 5, base: "10s", factor: 2, cap: "1h" },
      run: async (_: undefined, { attempt }) => {
        if (attempt < 3) throw Object.assign(new Error(`no ${attempt}`), { code: "E_NO" })
        return attempt
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-01T09:00Z" })
    const run = await app.enqueue(job)
    await app.clock.advance("1m")
    expect(await run.result()).toBe(3)
    const attempts = await app.runs.attempts(run.id)
    expect(attempts).toMatchObject([
      { attempt: 1, outcome: "failed", error: { code: "E_NO", message: "no 1" } },
      { attempt: 2, outcome: "failed", error: { code: "E_NO", message: "no 2" } },
      { attempt: 3, outcome: "succeeded", runState: "succeeded" },
    ])
    const waits = attempts.slice(1).map((next, index) => +next.dueAt - +(attempts[index]?.finishedAt ?? 0))
    expect(waits[0]).toBeLessThanOrEqual(10_000)
    expect(waits[1]).toBeLessThanOrEqual(20_000)
  })

  it("becomes a dead letter after its last attempt, and says why", async () => {
    const job = defineJob({
      name: "doomed",
      retry: { attempts: 3, base: "1s" },
      run: async () => {
        throw new Error("no such account\0")
      },
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.clock.advance("1m")
    const error = await run.result().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({
      code: "RUN_DEAD",
      runId: run.id,
      cause: { message: "no such account\uFFFD" },
    })
    expect((await app.runs.attempts(run.id)).map(({ attempt, runState }) => [attempt, runState])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, "dead"],
    ])
  })

  it("gets undefined for an omitted input, and null where its schema wants that", async () => {
    const optional = z.object({ deep: z.boolean() }).optional()
    const absent = defineJob({ name: "absent", input: optional, run: (input) => typeof input })
    const nothing = defineJob({ name: "nothing", input: z.null(), run: (input) => input === null })
    const spared = defineJob({
      name: "spared",
      run: ({ deep = true }: { deep?: boolean } | undefined = {}) => deep,
    })
    await using app = await kit.app({ jobs: [absent, nothing, spared] })
    const runs = [
      await app.enqueue(absent),
      await app.enqueue(nothing, null),
      await app.enqueue(spared),
    ] as const
    await app.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(["undefined", true, true])
  })

  it("dies at once when its result cannot be kept", async () => {
    // @ts-expect-error the compiler knows as well
    const job = defineJob({ name: "bigint", run: async () => ({ n: 1n }) })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ cause: { code: "PAYLOAD_INVALID" } })
  })

  it("does not start before it is due, and starts when it is", async () => {
    await using app = await kit.app({ jobs: [greet], at: "2026-03-01T09:00Z" })
    const delayed = await app.enqueue(greet, { who: "later" }, { delay: "400d" })
    const dated = await app.enqueue(greet, { who: "then" }, { runAt: new Date("2026-03-01T10:00Z") })
    const past = await app.enqueue(greet, { who: "past" }, { runAt: new Date("2020-01-01T00:00Z") })
    await app.drain()
    expect(started(app.events)).toEqual([past.id])
    await app.clock.advance("59m")
    expect(started(app.events)).toEqual([past.id])
    await app.clock.advance("1m")
    expect(started(app.events)).toEqual([past.id, dated.id])
    await app.clock.advance("400d")
    expect(await delayed.result()).toBe("hello later")
    expect((await app.runs.attempts(delayed.id))[0]?.finishedAt).toEqual(new Date("2027-04-05T09:00Z"))
  })

  it("goes first when its priority is higher, and in the order of enqueues when it is equal", async () => {
    const order: string[] = []
    const job = defineJob({ name: "ordered", run: async (name: string) => void order.push(name) })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 }, at: "2026-03-01T09:00Z" })
    const minute = async (name: string, priority: number) => {
      await app.enqueue(job, name, { priority })
      await app.clock.set(new Date(+(await app.clock.now()) + 1))
    }
    await minute("low", -5)
    await minute("first", 0)
    await minute("second", 0)
    await minute("high", 9)
    await app.drain()
    expect(order).toEqual(["high", "first", "second", "low"])
  })

  it("is left to other processes when this one does not know its job, or does not serve its pool", async () => {
    const stranger = defineJob({ name: "stranger", run: async () => {} })
    const elsewhere = defineJob({ name: "elsewhere", pool: "gpu", run: async () => {} })
    await using app = await kit.app({ jobs: [greet, elsewhere], pools: { default: 5 } })
    await app.enqueue(stranger)
    await app.enqueue(elsewhere)
    const known = await app.enqueue(greet, { who: "ada" })
    await app.drain()
    expect(started(app.events)).toEqual([known.id])
  })

  it("can be waited for by its id alone, from any process", async () => {
    await using app = await kit.app({ jobs: [greet] })
    const run = await app.enqueue(greet, { who: "ada" })
    await app.drain()
    expect(await app.runs.wait(run.id)).toMatchObject({ result: "hello ada" })
    const nobody = "01900000-0000-7000-8000-000000000000"
    await expect(app.runs.wait(nobody)).rejects.toMatchObject({ code: "RUN_NOT_FOUND", runId: nobody })
    expect(await app.runs.attempts(nobody)).toEqual([])
  })

  it("can be waited for with a timeout", async () => {
    await using app = await kit.app({ jobs: [greet] })
    const run = await app.enqueue(greet, { who: "ada" }, { delay: "1h" })
    const enough = new AbortController()
    const waiting = run.result({ signal: enough.signal })
    enough.abort(new Error("enough"))
    await expect(waiting).rejects.toThrow("enough")
    await app.clock.advance("1h")
    expect(await run.result()).toBe("hello ada")
  })
})

function started(events: readonly { type: string }[]): string[] {
  return events.flatMap((event) =>
    event.type === "attempt.started" ? [(event as unknown as { run: string }).run] : [],
  )
}
