/** Settings of jobs that operators override: what they change, for how long, and who is told. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type JobOverride } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a retry storm" }
const hour = { ...by, for: "1h" } as const

describe("an override", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  const failing = defineJob({
    name: "failing",
    retry: { attempts: 4, delay: "1m" },
    run: async () => {
      throw new Error("the API is down")
    },
  })
  const open = (options = {}) =>
    kit.app({ jobs: [failing], at: "2026-03-01T09:00Z", lease: "1d", ...options })
  const dueAt = async (app: WatchedApp, id: string) => (await app.runs.get(id))?.dueAt.toISOString()
  const settings = async (app: WatchedApp, job = "failing") => (await app.jobs.get(job))?.settings

  it("of the back-off applies to the next failure, and the attempts stay as the code says", async () => {
    await using app = await open()
    const run = await app.enqueue(failing)
    await app.drain()
    expect(await dueAt(app, run.id)).toBe("2026-03-01T09:01:00.000Z")
    await app.jobs.override("failing", { retry: { delay: "30m" } }, { ...by, until: "cleared" })
    expect(await dueAt(app, run.id)).toBe("2026-03-01T09:01:00.000Z")
    await app.clock.advance("1m")
    expect(await dueAt(app, run.id)).toBe("2026-03-01T09:31:00.000Z")
    await app.clock.advance("2h")
    expect(await app.runs.get(run.id)).toMatchObject({ state: "dead", attempt: 4 })
  })

  it("of the attempts buries what has used them up, and the back-off stays as the code says", async () => {
    await using app = await open()
    const [old, own] = [
      await app.enqueue(failing),
      await app.enqueue(failing, undefined, { retry: { attempts: 100, delay: "1m" } }),
    ]
    await app.drain()
    await app.jobs.override("failing", { retry: { attempts: 2 } }, hour)
    const fresh = await app.enqueue(failing)
    await app.drain()
    expect(await dueAt(app, fresh.id)).toBe("2026-03-01T09:01:00.000Z")
    await app.clock.advance("1m")
    for (const { id } of [old, own, fresh]) {
      expect(await app.runs.get(id)).toMatchObject({ state: "dead", attempt: 2 })
    }
  })

  it("of the timeout applies to attempts that start after it", async () => {
    const [started, ended] = [createGate(), createGate()]
    const timeouts: number[] = []
    const slow = defineJob({
      name: "slow",
      timeout: "1h",
      retry: { attempts: 1 },
      run: async (which: string, ctx) => {
        if (which === "first") {
          started.open()
          return ended.opened
        }
        await new Promise((resolve) => {
          ctx.signal.addEventListener("abort", resolve)
        })
        timeouts.push(1)
      },
    })
    await using app = await kit.app({ jobs: [slow], pools: { default: 2 } })
    await app.start()
    const first = await app.enqueue(slow, "first")
    await started.opened
    await app.jobs.override("slow", { timeout: 20 }, hour)
    const second = await app.enqueue(slow, "second")
    await expect(second.result()).rejects.toMatchObject({ message: expect.stringContaining("within 20 ms") })
    ended.open()
    await first.result()
    expect(timeouts).toEqual([1])
  })

  it("of the concurrency admits more or fewer at once, and a deploy does not undo it", async () => {
    const gate = createGate()
    let most = 0
    let now = 0
    const narrow = defineJob({
      name: "narrow",
      concurrency: 1,
      run: async () => {
        now += 1
        most = Math.max(most, now)
        await gate.opened
        now -= 1
      },
    })
    await using app = await kit.app({ jobs: [narrow], lease: "1d", pools: { default: 10 } })
    await app.tick()
    expect(await app.jobs.override("narrow", { concurrency: 3 }, hour)).toEqual(expect.any(Date))
    await app.restart()
    await app.tick()
    const runs = await app.enqueueMany(
      narrow,
      Array.from({ length: 5 }, () => ({})),
    )
    for (let ticks = 0; ticks < 3; ticks += 1) await app.tick()
    expect(now).toBe(3)
    gate.open()
    await app.drain()
    for (const run of runs) await run.result()
    expect(most).toBe(3)
    await app.jobs.clearOverride("narrow", by)
    most = 0
    await app.enqueueMany(narrow, [{}, {}, {}])
    await app.drain()
    expect(most).toBe(1)
  })

  it("is shown with the setting: where the value comes from, until when, by whom and why", async () => {
    await using app = await open()
    await app.tick()
    expect(await app.jobs.override("failing", { retry: { attempts: 2 } }, hour)).toEqual(
      new Date("2026-03-01T10:00Z"),
    )
    await app.jobs.override("failing", { timeout: "5s" }, { until: "cleared" })
    const shown = await settings(app)
    expect(shown?.["retry"]).toEqual({
      value: { attempts: 2, wait: { kind: "fixed", delayMs: 60_000 }, isFinal: "(function)" },
      from: "override",
      override: {
        ...{ ...by, at: new Date("2026-03-01T09:00Z"), until: new Date("2026-03-01T10:00Z") },
        declared: { attempts: 4, wait: { kind: "fixed", delayMs: 60_000 }, isFinal: "(function)" },
      },
    })
    expect(shown?.["timeoutMs"]).toEqual({
      value: 5_000,
      from: "override",
      override: { at: new Date("2026-03-01T09:00Z"), actor: expect.any(String), reason: "" },
    })
    expect(shown?.["pool"]).toEqual({ value: "default", from: "default" })
    expect((await app.jobs.list()).items[0]?.settings).toEqual(shown)
  })

  it("ends by itself, each setting at its own time, and one process tells it", async () => {
    await using app = await open()
    const beside = await kit.beside(app, { jobs: [failing] })
    await app.tick()
    await app.jobs.override("failing", { retry: { attempts: 2 } }, hour)
    await app.clock.set("2026-03-01T09:00:01Z")
    await app.jobs.override("failing", { timeout: "5s" }, { ...by, for: "2h" })
    await app.clock.set("2026-03-01T09:59:59.999Z")
    for (const each of [app, beside]) await each.tick()
    expect((await settings(app))?.["retry"]).toMatchObject({ from: "override" })
    await app.clock.set("2026-03-01T10:00Z")
    for (const each of [app, beside]) await each.tick()
    expect((await settings(app))?.["retry"]).toMatchObject({ from: "code", value: { attempts: 4 } })
    expect((await settings(app))?.["timeoutMs"]).toMatchObject({ from: "override" })
    const over = { actor: "carillon", reason: "the override was over" }
    const told = [app, beside].map(({ events }) => events.filter(({ type }) => type.startsWith("job.over")))
    expect(told[0]).toMatchObject([
      { job: "failing", settings: { retry: { attempts: 2 } }, until: new Date("2026-03-01T10:00Z"), ...by },
      { job: "failing", settings: { timeout: 5_000 }, until: new Date("2026-03-01T11:00:01Z"), ...by },
      { type: "job.override-ended", job: "failing", settings: ["retry"], because: "over", ...over },
    ])
    expect(told[1]).toEqual([])
    const { items } = await app.audit.list({ subject: "job:failing" })
    // The clock stood still between the declaration and the first override, so they have no order.
    expect(items.filter(({ action }) => action !== "job.declared")).toMatchObject([
      { action: "job.override-ended", ...over, before: { retry: { attempts: 2 } } },
      {
        ...{ action: "job.overridden", ...by },
        ...{ before: { retry: { attempts: 2 } }, after: { timeout: 5_000 } },
      },
      { action: "job.overridden", ...by, after: { retry: { attempts: 2 } } },
    ])
    await beside.close()
  })

  it("is live in another process, and in one that starts", async () => {
    await using app = await open()
    const beside = await kit.beside(app, { jobs: [failing] })
    await app.tick()
    await beside.jobs.override("failing", { retry: { attempts: 1 } }, hour)
    const first = await app.enqueue(failing)
    await app.drain()
    await app.restart()
    const second = await app.enqueue(failing)
    await app.drain()
    for (const { id } of [first, second]) expect(await app.runs.get(id)).toMatchObject({ state: "dead" })
    expect(await beside.jobs.clearOverride("failing", by)).toBe(true)
    expect(await beside.jobs.clearOverride("failing", by)).toBe(false)
    const third = await app.enqueue(failing)
    await app.drain()
    expect(await app.runs.get(third.id)).toMatchObject({ state: "waiting" })
    await beside.close()
  })

  it.each(["override.written", "pause.written"] as const)(
    "survives a process that dies at %s",
    async (point) => {
      await using app = await open()
      await app.tick()
      app.crashAt(point)
      if (point === "pause.written") void app.jobs.pause("failing", by).catch(() => {})
      else void app.jobs.override("failing", { retry: { attempts: 1 } }, hour).catch(() => {})
      await app.crashed()
      await app.restart()
      const run = await app.enqueue(failing)
      await app.drain()
      const state = point === "pause.written" ? "parked" : "dead"
      expect(await app.runs.get(run.id)).toMatchObject({ state })
    },
  )

  describe("is refused", () => {
    it.each<[string, JobOverride, object, string]>([
      ["without an end", { timeout: "1s" }, by, 'options.until: expected the end: `for: "1h"`'],
      [
        "with two ends",
        { timeout: "1s" },
        { until: "cleared", for: "1h" },
        "expected either `until` or `for`",
      ],
      ["with a misspelt end", { timeout: "1s" }, { until: "clear" }, 'or "cleared"'],
      [
        "with an end in the past",
        { timeout: "1s" },
        { until: new Date("2020-01-01Z") },
        "an instant in the future",
      ],
      [
        "without settings",
        {},
        hour,
        "override: expected at least one of `retry`, `timeout` and `concurrency`",
      ],
      ["with a misspelt setting", { timeot: 1 } as JobOverride, hour, 'did you mean "timeout"?'],
      [
        "with a faulty setting",
        { retry: { attempts: 0 } },
        hour,
        "override.retry.attempts: expected a whole",
      ],
      [
        "with a concurrency that the job does not have",
        { concurrency: 1 },
        hour,
        "declares no `concurrency`",
      ],
    ])("%s", async (_, override, options, message) => {
      await using app = await open()
      await app.tick()
      await expect(app.jobs.override("failing", override, options as typeof hour)).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
        message: expect.stringContaining(message),
      })
      expect((await app.audit.list({ action: "job.overridden" })).items).toEqual([])
    })

    it("for a job that no process has declared", async () => {
      await using app = await open()
      await app.tick()
      await expect(app.jobs.override("failng", { timeout: 1 }, hour)).rejects.toMatchObject({
        code: "JOB_UNKNOWN",
        message: expect.stringContaining('Did you mean "failing"?'),
      })
    })
  })
})
