/** When a failed run is retried, and when it is not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type Failure, type Job, type JobContext } from "../../src/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

class Hopeless extends Error {
  override readonly name = "Hopeless"
}

const fails = async (): Promise<never> => {
  throw Object.assign(new Error("no luck"), { code: "E_LUCK" })
}

/** Functions of a job that break their types. */
const breaks = () => {
  throw new Error("broken")
}
const brokenAfter = (after: () => unknown) => ({ after: after as () => null })
const brokenFinal = (final: () => unknown) => ({ final: final as () => boolean })

/** The history of one run, six days later: history is kept for seven. */
async function history(job: Job<undefined>) {
  await using app = await kit.app({ jobs: [job], at: "2026-03-01T09:00Z" })
  const run = await app.enqueue(job)
  await app.clock.advance("6d")
  const attempts = await app.runs.attempts(run.id)
  const waitsMs = attempts.slice(1).map(({ dueAt }, index) => +dueAt - +(attempts[index]?.finishedAt ?? 0))
  return { attempts, waitsMs, end: attempts.at(-1)?.runState }
}

describe("a retry policy", () => {
  it("with a fixed delay waits exactly that long, each time", async () => {
    const job = defineJob({ name: "fixed", retry: { attempts: 4, delay: "90s" }, run: fails })
    expect(await history(job)).toMatchObject({ waitsMs: [90_000, 90_000, 90_000], end: "dead" })
  })

  it("with a list of delays has one more attempt than delays", async () => {
    const job = defineJob({ name: "list", retry: { delays: ["1s", "1m", "1h"] }, run: fails })
    expect(await history(job)).toMatchObject({ waitsMs: [1_000, 60_000, 3_600_000], end: "dead" })
  })

  it("with fewer delays than attempts repeats the last delay", async () => {
    const job = defineJob({ name: "list", retry: { attempts: 5, delays: ["1s", "1m"] }, run: fails })
    expect((await history(job)).waitsMs).toEqual([1_000, 60_000, 60_000, 60_000])
  })

  it("with more delays than attempts ends with the attempts", async () => {
    const job = defineJob({ name: "list", retry: { attempts: 2, delays: ["1s", "1m", "1h"] }, run: fails })
    expect((await history(job)).waitsMs).toEqual([1_000])
  })

  it("that is a function sees the failure and decides", async () => {
    const seen: Failure[] = []
    const after = (failure: Failure) => {
      seen.push(failure)
      return failure.attempt < 3 ? failure.attempt * 1_000 : null
    }
    const job = defineJob({ name: "function", retry: { attempts: 10, after }, run: fails })
    expect(await history(job)).toMatchObject({ waitsMs: [1_000, 2_000], end: "dead" })
    const failure = { code: "E_LUCK", message: "no luck" }
    expect(seen).toEqual([
      { attempt: 1, ...failure },
      { attempt: 2, ...failure },
      { attempt: 3, ...failure },
    ])
  })

  it("that is a function is still bound by the number of attempts", async () => {
    const job = defineJob({ name: "function", retry: { attempts: 3, after: () => 0 }, run: fails })
    expect(await history(job)).toMatchObject({ waitsMs: [0, 0], end: "dead" })
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken")
      },
    ],
    ["returns no duration", () => "soon" as "1s"],
    ["returns a negative one", () => -5],
    ["returns NaN", () => Number.NaN],
    ["returns nothing", () => undefined as unknown as null],
    ["returns a promise", () => Promise.resolve(5) as unknown as number],
  ])("that is a function and %s is replaced by the default, and no run is stuck", async (_, after) => {
    const job = defineJob({ name: "function", retry: { attempts: 3, after }, run: fails })
    const { waitsMs, end } = await history(job)
    expect(end).toBe("dead")
    expect(waitsMs).toHaveLength(2)
    expect(waitsMs[0]).toBeLessThanOrEqual(10_000)
    expect(waitsMs[1]).toBeLessThanOrEqual(20_000)
  })

  it.each([
    ["after", "throws", brokenAfter(breaks), "`retry.after` threw (broken)"],
    [
      "after",
      "returns no duration",
      brokenAfter(() => "soon"),
      "`retry.after` returned soon, which is not a duration",
    ],
    [
      "after",
      "rejects",
      brokenAfter(() => Promise.reject(new Error("x"))),
      "`retry.after` returned a promise",
    ],
    ["final", "throws", brokenFinal(breaks), "`retry.final` threw (broken)"],
    [
      "final",
      "rejects",
      brokenFinal(() => Promise.reject(new Error("x"))),
      "`retry.final` returned a promise",
    ],
  ])(
    "whose `%s` %s is reported in an event and in the record of the attempt",
    async (_which, _how, retry, says) => {
      const job = defineJob({ name: "function", retry: { attempts: 2, ...retry }, run: fails })
      await using app = await kit.app({ jobs: [job] })
      const run = await app.enqueue(job)
      await app.drain()
      const told = app.events.filter(({ type }) => type === "retry.faulty")
      expect(told).toMatchObject([{ run: run.id, attempt: 1, message: expect.stringContaining(says) }])
      const [attempt] = await app.runs.attempts(run.id)
      expect(attempt).toMatchObject({ error: { message: "no luck" } })
      expect(attempt?.logs).toMatchObject([{ message: expect.stringContaining(says) }])
    },
  )

  it("by default has five attempts", async () => {
    const { attempts, waitsMs, end } = await history(defineJob({ name: "default", run: fails }))
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    expect(end).toBe("dead")
    for (const [index, longestMs] of [10_000, 20_000, 40_000, 80_000].entries()) {
      expect(waitsMs[index]).toBeLessThanOrEqual(longestMs)
    }
  })

  it("with back-off draws each wait evenly up to its longest, so that retries spread out", async () => {
    const job = defineJob({ name: "jitter", retry: { attempts: 2, base: "100s" }, run: fails })
    await using app = await kit.app({ jobs: [job], pools: { default: 200 }, at: "2026-03-01T09:00Z" })
    const runs = await app.enqueueMany(
      job,
      Array.from({ length: 200 }, () => ({})),
    )
    await app.drain()
    const waits = await Promise.all(
      runs.map(async ({ id }) => +((await app.runs.get(id))?.dueAt ?? 0) - Date.parse("2026-03-01T09:00Z")),
    )
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...waits)).toBeLessThanOrEqual(100_000)
    const quarters = [0, 1, 2, 3].map((q) => waits.filter((ms) => Math.floor(ms / 25_000) === q).length)
    // Fifty are expected in each; fewer than twenty would be a wonder.
    for (const count of quarters) expect(count).toBeGreaterThan(20)
  })

  it("with back-off is bound by its cap", async () => {
    const retry = { attempts: 12, base: "1s", factor: 10, cap: "5s" } as const
    const { waitsMs } = await history(defineJob({ name: "capped", retry, run: fails }))
    expect(waitsMs).toHaveLength(11)
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(5_000)
  })
})

describe("a final error", () => {
  const onlyOnce = async (job: Job<undefined>) => {
    const { attempts } = await history(job)
    return attempts.length === 1 && attempts[0]?.runState === "dead"
  }
  const hopeless = async (): Promise<never> => {
    throw new Hopeless("never")
  }

  it("by its name ends the run at once", async () => {
    expect(await onlyOnce(defineJob({ name: "x", retry: { final: ["Hopeless"] }, run: hopeless }))).toBe(true)
  })

  it("by its code ends the run at once", async () => {
    expect(await onlyOnce(defineJob({ name: "x", retry: { final: ["E_LUCK"] }, run: fails }))).toBe(true)
  })

  it("by a function ends the run at once, and the function sees the error itself", async () => {
    const final = (error: unknown) => error instanceof Hopeless
    expect(await onlyOnce(defineJob({ name: "x", retry: { final }, run: hopeless }))).toBe(true)
    expect(
      await onlyOnce(defineJob({ name: "x", retry: { attempts: 2, final, delay: 0 }, run: fails })),
    ).toBe(false)
  })

  it.each([
    ["of another name", { final: ["Other", "E_OTHER"] }],
    [
      "that is unknown, because the function fails",
      {
        final: () => {
          throw new Error("broken")
        },
      },
    ],
  ])("is not final when it is one %s", async (_, retry) => {
    expect(
      await onlyOnce(defineJob({ name: "x", retry: { ...retry, attempts: 2, delay: 0 }, run: fails })),
    ).toBe(false)
  })
})

describe("the attempts of a run", () => {
  it("know how the last one failed", async () => {
    const seen: JobContext["lastFailure"][] = []
    const job = defineJob({
      name: "remembers",
      retry: { attempts: 4, delay: 0 },
      run: async (_: undefined, { attempt, lastFailure }) => {
        seen.push(lastFailure)
        if (attempt < 3) throw Object.assign(new Error(`no ${attempt}`), { code: `E_${attempt}` })
      },
    })
    await history(job)
    expect(seen).toEqual([undefined, { code: "E_1", message: "no 1" }, { code: "E_2", message: "no 2" }])
  })

  it("that time out are charged like any that fail", async () => {
    const job = defineJob({
      name: "slow",
      timeout: "10ms",
      retry: { attempts: 2, delay: "1m" },
      run: (_: undefined, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason))
        }),
    })
    const { attempts, waitsMs } = await history(job)
    expect(waitsMs).toEqual([60_000])
    const timedOut = { outcome: "timed_out", charged: true, error: { code: "ATTEMPT_TIMEOUT" } }
    expect(attempts).toMatchObject([
      { attempt: 1, ...timedOut },
      { attempt: 2, ...timedOut, cause: "failed", runState: "dead" },
    ])
  })

  it("wait outside the queue: a run that waits for its retry takes no slot and blocks no run", async () => {
    const order: string[] = []
    const job = defineJob({
      name: "either",
      retry: { attempts: 2, delay: "1h" },
      run: async (name: string, { attempt }) => {
        order.push(`${name} ${attempt}`)
        if (name === "bad" && attempt === 1) throw new Error("later")
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    const bad = await app.enqueue(job, "bad")
    await app.enqueue(job, "good")
    await app.drain()
    expect(order).toEqual(["bad 1", "good 1"])
    expect(await app.runs.get(bad.id)).toMatchObject({ state: "waiting", attempt: 1 })
    await app.clock.advance("1h")
    expect(order).toEqual(["bad 1", "good 1", "bad 2"])
  })
})
