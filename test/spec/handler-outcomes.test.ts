/** What a handler can answer for its run, and what the run becomes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Bury, Cancel, defineJob, Retry, Snooze } from "../../src/index.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

/** A job that gives this answer until the attempt with this number, and then succeeds. */
interface Speech {
  readonly say: "error" | "retry" | "retry-later" | "cancel" | "bury" | "snooze" | "nonsense"
  readonly how: "returned" | "thrown"
  readonly times: number
}

const words = {
  error: () => Object.assign(new Error("no luck"), { code: "E_LUCK" }),
  retry: () => Retry(),
  "retry-later": () => Retry({ after: "30s", reason: "rate limited" }),
  cancel: () => Cancel("not wanted any more"),
  bury: () => Bury("no such account"),
  snooze: () => Snooze("1h"),
  nonsense: () => Retry({ after: "in a while" as "1s" }),
} as const

let spoken: Record<string, number> = {}
const speaker = defineJob({
  name: "speaker",
  retry: { attempts: 3, delay: "1m" },
  run: async ({ say, how, times }: Speech, { runId }) => {
    const before = spoken[runId] ?? 0
    if (before === times) return "done"
    spoken = { ...spoken, [runId]: before + 1 }
    const word = words[say]()
    if (how === "thrown") throw word
    return word
  },
})
const echo = defineJob({ name: "echo", run: async (input: unknown) => input })
const thrower = defineJob({
  name: "thrower",
  retry: { attempts: 1 },
  run: async (input: unknown) => {
    throw input
  },
})

let kit: WatchedKit
let app: WatchedApp
beforeAll(async () => {
  kit = await createWatchedKit()
  app = await kit.app({ jobs: [speaker, echo, thrower], version: "4.5.6" })
})
afterAll(async () => {
  await app.close()
  await kit.close()
})

const letters = (id: string) => rowsOf(app.database, `select * from {dead_letters} where run = '${id}'`)

/** A run of that job, and its record after this much time. */
async function listen(speech: Speech, duration: "1s" | "1d" = "1d") {
  const enqueuedAt = await app.clock.now()
  const run = await app.enqueue(speaker, speech)
  await app.clock.advance(duration)
  const attempts = await app.runs.attempts(run.id)
  const secondsAfter = attempts.map(({ dueAt }) => (+dueAt - +enqueuedAt) / 1_000)
  return { run, attempts, secondsAfter, letters: await letters(run.id) }
}

describe("a handler that returns", () => {
  it.each([["text"], [7], [null], [[1, [2]]], [{ deep: { er: true } }], [""], [false]])(
    "%j has that as its result",
    async (value) => {
      const run = await app.enqueue(echo, value)
      await app.drain()
      expect(await run.result()).toEqual(value)
    },
  )

  it("leaves an attempt in history with its full record", async () => {
    const run = await app.enqueue(echo, "x")
    await app.drain()
    const [attempt] = await app.runs.attempts(run.id)
    expect(attempt).toMatchObject({
      runId: run.id,
      generation: 1,
      attempt: 1,
      charged: true,
      job: "echo",
      pool: "default",
      idempotencyKey: `run:${run.id}`,
      version: "4.5.6",
      outcome: "succeeded",
      runState: "succeeded",
    })
    expect(attempt?.id.startsWith(`${run.id}.`)).toBe(true)
    expect(attempt?.worker).toMatch(/.:\d+$/)
    expect(attempt?.lease).toHaveLength(36)
    expect(attempt?.durationMs).toBeGreaterThanOrEqual(0)
    expect(Object.keys(attempt ?? {})).not.toEqual(expect.arrayContaining(["cause"]))
    expect(Object.keys(attempt ?? {})).not.toEqual(expect.arrayContaining(["error"]))
  })

  it("an object that only looks like a verdict has succeeded with it as its result", async () => {
    const run = await app.enqueue(echo, { kind: "cancel", reason: "x", "carillon.verdict": true })
    await app.drain()
    expect(await run.result()).toMatchObject({ kind: "cancel" })
  })
})

describe("a handler that throws", () => {
  it("has failed: the attempt is charged, keeps the error's code, message and stack, and is retried", async () => {
    const { run, attempts, secondsAfter } = await listen({ say: "error", how: "thrown", times: 2 })
    expect(await run.result()).toBe("done")
    const failed = { outcome: "failed", charged: true, error: { code: "E_LUCK", message: "no luck" } }
    expect(attempts).toMatchObject([
      { attempt: 1, ...failed },
      { attempt: 2, cause: "failed", ...failed },
      { attempt: 3, cause: "failed", outcome: "succeeded", charged: true, runState: "succeeded" },
    ])
    expect(attempts[0]?.error?.stack).toContain("handler-outcomes.test.ts")
    expect(secondsAfter).toEqual([0, 60, 120])
  })

  it("on its last attempt leaves a dead letter", async () => {
    const { run, attempts, letters: kept } = await listen({ say: "error", how: "thrown", times: 9 })
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "E_LUCK" } })
    expect(attempts).toHaveLength(3)
    expect(kept).toMatchObject([
      { job: "speaker", attempts: 3, error_code: "E_LUCK", error_message: "no luck" },
    ])
  })

  it.each([
    ["a text", "just words", "just words"],
    ["nothing", undefined, "undefined"],
    ["an object", { why: "so" }, '{"why":"so"}'],
    ["a number", 42, "42"],
  ])("%s has failed, with a readable description", async (_, thrown, message) => {
    const run = await app.enqueue(thrower, thrown)
    await app.drain()
    expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "failed", error: { message } }])
  })

  it("because it built a wrong verdict has failed, with the reason", async () => {
    const { attempts } = await listen({ say: "nonsense", how: "returned", times: 1 })
    expect(attempts).toMatchObject([
      { outcome: "failed", error: { code: "OPTIONS_INVALID", message: expect.stringContaining("after") } },
      { outcome: "succeeded" },
    ])
  })
})

describe.each(["returned", "thrown"] as const)("a verdict that is %s", (how) => {
  it("Retry is a charged failure, and the retry policy sets the time", async () => {
    const { run, attempts, secondsAfter } = await listen({ say: "retry", how, times: 1 })
    expect(await run.result()).toBe("done")
    expect(attempts).toMatchObject([
      { attempt: 1, charged: true, outcome: "failed", error: { code: "RETRY_ASKED" } },
      { attempt: 2, charged: true, outcome: "succeeded", cause: "failed" },
    ])
    expect(secondsAfter).toEqual([0, 60])
  })

  it("Retry with a time of its own waits for that, and keeps its reason", async () => {
    const { attempts, secondsAfter } = await listen({ say: "retry-later", how, times: 2 })
    expect(attempts[0]?.error).toMatchObject({ code: "RETRY_ASKED", message: "rate limited" })
    expect(secondsAfter).toEqual([0, 30, 60])
  })

  it("Retry counts: the last one buries the run", async () => {
    const { run, attempts, letters: kept } = await listen({ say: "retry-later", how, times: 9 })
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "RETRY_ASKED" } })
    expect(attempts).toHaveLength(3)
    expect(kept).toHaveLength(1)
  })

  it("Cancel ends the run as cancelled, with its reason, and leaves no dead letter", async () => {
    const { run, attempts, letters: kept } = await listen({ say: "cancel", how, times: 9 })
    await expect(run.result()).rejects.toMatchObject({
      code: "RUN_CANCELLED",
      runId: run.id,
      cause: { code: "RUN_CANCELLED", message: "not wanted any more" },
    })
    expect(attempts).toMatchObject([
      {
        outcome: "cancelled",
        runState: "cancelled",
        charged: false,
        error: { code: "RUN_CANCELLED", message: "not wanted any more" },
      },
    ])
    expect(kept).toEqual([])
    expect(await app.runs.get(run.id)).toMatchObject({ state: "cancelled" })
  })

  it("Bury makes a dead letter at once, whatever attempts are left", async () => {
    const { run, attempts, letters: kept } = await listen({ say: "bury", how, times: 9 })
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "RUN_BURIED" } })
    expect(attempts).toMatchObject([
      { outcome: "failed", runState: "dead", charged: true, error: { message: "no such account" } },
    ])
    expect(kept).toMatchObject([{ attempts: 1, error_code: "RUN_BURIED", error_message: "no such account" }])
  })

  it("Snooze comes back later and is never charged", async () => {
    const { run, attempts, secondsAfter } = await listen({ say: "snooze", how, times: 5 })
    expect(await run.result()).toBe("done")
    expect(attempts).toHaveLength(6)
    for (const [index, snoozed] of attempts.slice(0, 5).entries()) {
      expect(snoozed).toMatchObject({ attempt: 1, outcome: "snoozed", charged: false })
      expect(snoozed.cause).toBe(index === 0 ? undefined : "snoozed")
    }
    expect(attempts.at(-1)).toMatchObject({
      attempt: 1,
      charged: true,
      cause: "snoozed",
      outcome: "succeeded",
    })
    expect(secondsAfter).toEqual([0, 3_600, 7_200, 10_800, 14_400, 18_000])
  })
})

describe("a verdict", () => {
  it("is reported as an event, after it was written", async () => {
    const { run } = await listen({ say: "snooze", how: "returned", times: 1 }, "1s")
    const finished = app.events.filter((event) => event.type === "attempt.finished" && event.run === run.id)
    expect(finished).toMatchObject([{ outcome: "snoozed", runState: "waiting", attempt: 1, job: "speaker" }])
  })

  it("from another copy of this package is understood", async () => {
    const foreign = defineJob({
      name: "foreign",
      run: async () => ({ [Symbol.for("carillon.verdict")]: true, kind: "bury", reason: "said elsewhere" }),
    })
    await using alone = await kit.app({ jobs: [foreign] })
    const run = await alone.enqueue(foreign)
    await alone.drain()
    await expect(run.result()).rejects.toMatchObject({
      cause: { code: "RUN_BURIED", message: "said elsewhere" },
    })
  })

  it.each([
    ["returned", "is of a kind that only a newer copy knows", (): string => "postpone"],
    ["thrown", "is of a kind that only a newer copy knows", (): string => "postpone"],
    [
      "thrown",
      "cannot be read",
      () => {
        throw new Error("unreadable")
      },
    ],
  ] as const)("that is %s and %s is a failure like any other", async (how, _, kind) => {
    const verdict = Object.defineProperty({ [Symbol.for("carillon.verdict")]: true }, "kind", { get: kind })
    const foreign = defineJob({
      name: "foreign",
      retry: { attempts: 1 },
      run: async () => {
        if (how === "thrown") throw verdict
        return verdict
      },
    })
    await using alone = await kit.app({ jobs: [foreign] })
    const run = await alone.enqueue(foreign)
    await alone.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(await alone.runs.attempts(run.id)).toMatchObject([{ outcome: "failed", runState: "dead" }])
  })

  it("cannot be made without what it needs", () => {
    expect(() => Cancel("")).toThrow("expected a non-empty text")
    expect(() => Bury(7 as unknown as string)).toThrow("expected a non-empty text")
    expect(() => Snooze("later" as "1s")).toThrow("later")
    expect(() => Retry({ afetr: "1s" } as object)).toThrow('did you mean "after"?')
  })
})
