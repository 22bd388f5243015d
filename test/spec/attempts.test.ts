import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AttemptAborted, defineJob, Retry } from "../../src/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

/** A handler that runs until the test lets it go. */
function gate() {
  let open: (value: string) => void = () => {}
  const opened = new Promise<string>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A promise that rejects when the signal aborts, as well-behaved code does. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
}

describe("an attempt", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it("that takes too long is aborted, recorded as timed out, and tried again", async () => {
    const reasons: unknown[] = []
    const job = defineJob({
      name: "slow",
      timeout: "20ms",
      retry: { attempts: 2, base: 0 },
      run: async (_: undefined, { attempt, signal }) => {
        if (attempt === 2) return "done"
        return aborted(signal).catch((reason: unknown) => {
          reasons.push(reason)
          throw reason
        })
      },
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(reasons[0]).toBeInstanceOf(AttemptAborted)
    expect(reasons[0]).toMatchObject({ code: "ATTEMPT_TIMEOUT", runId: run.id })
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { outcome: "timed_out", error: { code: "ATTEMPT_TIMEOUT" } },
      { outcome: "succeeded" },
    ])
  })

  it.each([
    ["returns", () => "done"],
    ["throws", () => Promise.reject(new Error("late as well"))],
    ["asks for another attempt", () => Retry({ after: 0 })],
  ])("that blocks the event loop beyond its timeout and then %s has timed out", async (_, end) => {
    const job = defineJob({
      name: "blocking",
      timeout: "20ms",
      retry: { attempts: 1 },
      run: (): unknown => {
        for (const untilMs = performance.now() + 40; performance.now() < untilMs; );
        return end()
      },
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "ATTEMPT_TIMEOUT" } })
    expect(await app.runs.attempts(run.id)).toMatchObject([{ outcome: "timed_out", runState: "dead" }])
  })

  it("that obeys its timeout is not reported, however it ends", async () => {
    const job = defineJob({
      name: "polite",
      timeout: "20ms",
      retry: { attempts: 1 },
      run: async (_: undefined, { signal }) => aborted(signal),
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(app.events.filter(({ type }) => type === "attempt.overran")).toEqual([])
  })

  it("that ignores its timeout is reported, keeps its slot, and cannot change the outcome", async () => {
    const { opened, open } = gate()
    let late = ""
    const job = defineJob({
      name: "deaf",
      timeout: "20ms",
      retry: { attempts: 1 },
      run: async () => {
        late = await opened
        return late
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    const run = await app.enqueue(job)
    await app.tick()
    expect(await app.until("attempt.overran")).toMatchObject({ run: run.id, because: "timed_out" })
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD", cause: { code: "ATTEMPT_TIMEOUT" } })
    // The only slot is taken as long as the handler runs.
    const next = await app.enqueue(job)
    await app.tick()
    expect(app.events.some((event) => event.type === "attempt.started" && event.run === next.id)).toBe(false)
    open("too late")
    await app.drain()
    expect(late).toBe("too late")
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(app.events.some((event) => event.type === "attempt.started" && event.run === next.id)).toBe(true)
  })

  it("whose lease is lost is aborted, and its result is discarded", async () => {
    const { opened, open } = gate()
    const seen: string[] = []
    const job = defineJob({
      name: "guarded",
      run: async (_: undefined, { attempt, fencingToken, signal }) => {
        if (fencingToken > 1) return `claim ${fencingToken}, attempt ${attempt}`
        signal.addEventListener("abort", () => seen.push((signal.reason as AttemptAborted).code))
        return opened
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 2 }, lease: "60s" })
    const run = await app.enqueue(job)
    await app.tick()
    await app.until("attempt.started")
    await app.stealLease()
    await app.tick()
    expect(await app.until("lease.lost")).toMatchObject({ runs: 1 })
    expect(seen).toEqual(["LEASE_LOST"])
    // The run does not start a second time beside the handler that still runs here.
    await app.tick()
    expect(app.events.filter(({ type }) => type === "attempt.started")).toHaveLength(1)
    open("from the old lease")
    await app.drain()
    expect(await run.result()).toBe("claim 2, attempt 1")
    expect(await app.runs.attempts(run.id)).toMatchObject([
      { attempt: 1, outcome: "lost", charged: false },
      { attempt: 1, outcome: "succeeded", charged: true, cause: "lost" },
    ])
  })

  it("is given back without being charged when the process stops before it ends", async () => {
    const job = defineJob({
      name: "endless",
      retry: { attempts: 1 },
      run: async (_: undefined, { signal }) => aborted(signal),
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    await app.stop({ grace: 0 })
    await app.restart()
    expect(await app.runs.attempts(run.id)).toMatchObject([{ attempt: 1, outcome: "released" }])
    await app.tick()
    const startedAgain = (event: { run: string; attempt: number }) =>
      event.run === run.id && event.attempt === 1
    expect(
      app.events.filter((event) => event.type === "attempt.started" && startedAgain(event)),
    ).toHaveLength(2)
  })

  it("that ends within the grace of a stop keeps its own outcome", async () => {
    const { opened, open } = gate()
    const job = defineJob({ name: "nearly", run: async () => opened })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    const stopping = app.stop({ grace: "1h" })
    open("just in time")
    await stopping
    await app.restart()
    expect(await app.runs.wait(run.id)).toMatchObject({ result: "just in time" })
  })

  it("of a run that keeps killing its process ends as a dead letter", async () => {
    const job = defineJob({
      name: "poison",
      retry: { attempts: 3, base: 0 },
      run: async () => "never settled",
    })
    await using app = await kit.app({ jobs: [job], lease: "60s" })
    const run = await app.enqueue(job)
    // The first loss is free: a run that was claimed beside a poisonous one loses nothing.
    for (let life = 0; life < 4; life += 1) {
      app.crashAt("attempt.ended")
      await app.clock.advance("61s")
      await app.restart()
    }
    await app.clock.advance("61s")
    expect(await app.runs.wait(run.id)).toMatchObject({
      state: "dead",
      error: { code: "ATTEMPTS_EXHAUSTED" },
    })
    expect((await app.runs.attempts(run.id)).map(({ outcome, charged }) => [outcome, charged])).toEqual([
      ["lost", false],
      ["lost", true],
      ["lost", true],
      ["lost", true],
      ["failed", false],
    ])
  })
})
