/** What schedules remember of their runs, how that steers them, and how edits lose no change. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { classic, defineJob, type ScheduleOptions } from "../../src/index.ts"
import type { TestApp } from "../../src/testing/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const brief = (date: Date | undefined) => date?.toISOString().slice(11, 16)

describe.each(["memory", "postgres18"] as const)("a schedule, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  /** `ends` says, run by run, how they end: an error dies at once. */
  async function stage(ends: readonly (string | Error)[] = []) {
    const seen: unknown[] = []
    const job = defineJob({
      name: "work",
      retry: { attempts: 1 },
      run: async (input: string | undefined, ctx) => {
        const end = ends[seen.length]
        seen.push([
          brief(ctx.occurrence) ?? "by hand",
          ctx.lastResult,
          ctx.lastFailure?.message,
          input ?? undefined,
        ])
        if (end instanceof Error) throw end
        return end
      },
    })
    const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d" })
    const create = (more: object = {}, when: object = { cron: "*/10 * * * *" }) =>
      app.schedules.create({ name: "s", job, ...when, ...more } as ScheduleOptions<undefined>)
    const fires = async () =>
      [...(await app.schedules.fires("s")).fires]
        .reverse()
        .map(({ occurrence, outcome, reason, count }) =>
          [brief(occurrence), outcome, reason, count > 1 ? count : undefined]
            .filter((part) => part !== undefined)
            .join(" "),
        )
    return { app, job, seen, create, fires }
  }

  it("tells a run what the last one returned, and how it died", async () => {
    const { app, seen, create } = await stage(["first", new Error("no luck"), "third"])
    await create()
    await app.clock.advance("45m")
    expect(seen).toEqual([
      ["09:10", undefined, undefined, undefined],
      ["09:20", "first", undefined, undefined],
      ["09:30", "first", "no luck", undefined],
      ["09:40", "third", undefined, undefined],
    ])
    await app.close()
  })

  it("is paused when enough of its runs have died in a row, and counts anew after a resume", async () => {
    const no = new Error("no")
    const { app, seen, create, fires } = await stage([no, "yes", no, no, "yes", no, no])
    await create({ pauseAfterFailures: 2 })
    await app.clock.advance("45m")
    expect(seen).toHaveLength(4)
    await app.clock.advance("1h")
    expect(seen).toHaveLength(4)
    const paused = await app.schedules.get("s")
    expect(paused).toMatchObject({ state: "paused", cause: { reason: "2 of its runs died in a row" } })
    expect(brief(paused?.pausedAt)).toBe("09:40")
    expect(app.events.filter(({ type }) => type === "schedule.paused")).toHaveLength(1)
    await app.schedules.resume("s", by)
    expect((await fires()).slice(4)).toEqual(["09:50 skipped paused 6"])
    await app.clock.advance("1h")
    expect(seen).toHaveLength(7)
    expect((await app.schedules.get("s"))?.state).toBe("paused")
    await app.close()
  })

  it("is paused by the process that finds it due, when the one that saw the last failure died", async () => {
    const { app, seen, create } = await stage([new Error("no"), new Error("no")])
    await create({ pauseAfterFailures: 1 })
    app.crashAt("schedule.committed", 1)
    await app.clock.advance("10m").catch(() => {})
    await app.restart()
    await app.stealLease()
    await app.clock.advance("10m")
    await app.clock.advance("30m")
    expect(seen).toHaveLength(1)
    expect((await app.schedules.get("s"))?.state).toBe("paused")
    await app.close()
  })

  it("that counts from the ends of its runs fires that long after the last end", async () => {
    const { app, seen, create, fires } = await stage(["a", new Error("b"), "c"])
    const made = await create({ maxRuns: 3 }, { afterCompletion: "7m" })
    expect(brief(made.next?.occurrence)).toBe("09:07")
    await app.clock.advance("8m")
    // It ran at 09:07, and takes no time here.
    await app.clock.advance("5m")
    expect(seen).toHaveLength(1)
    await app.clock.advance("1h")
    expect(await fires()).toEqual(["09:07 fired", "09:14 fired", "09:21 fired"])
    expect((await app.schedules.get("s"))?.state).toBe("completed")
    await app.close()
  })

  it("that counts from the ends of its runs makes up for nothing after a pause or a downtime", async () => {
    const { app, create, fires } = await stage()
    await create({}, { afterCompletion: "10m" })
    await app.clock.set("2026-03-02T10:00Z")
    await app.drain()
    await app.clock.advance("1m")
    await app.schedules.pause("s", by)
    await app.clock.set("2026-03-02T11:00Z")
    await app.schedules.resume("s", by)
    await app.clock.advance("15m")
    expect(await fires()).toEqual(["09:10 fired", "11:10 fired"])
    await app.close()
  })

  it("is made up for after a pause, if the resume says so", async () => {
    const { app, seen, create, fires } = await stage()
    await create({ overlap: "queue" })
    await app.schedules.pause("s", by)
    await app.clock.set("2026-03-02T09:35Z")
    await app.schedules.resume("s", { ...by, misfire: "all" })
    await app.drain()
    expect(await fires()).toEqual(["09:10 fired", "09:20 fired", "09:30 fired"])
    expect(seen).toHaveLength(3)
    expect(brief((await app.schedules.get("s"))?.next?.occurrence)).toBe("09:40")
    const asked = await rowsOf(
      app.database,
      "select actor, after from {audit} where action = 'schedule.resume'",
    )
    expect(asked).toEqual([{ actor: "ada", after: { misfire: "all" } }])
    await app.close()
  })

  it.each([
    [
      "paused and resumed",
      async (app: TestApp) => {
        await app.schedules.pause("s", by)
        await app.clock.advance("2m")
        await app.schedules.resume("s", by)
      },
    ],
    [
      "edited in its priority",
      async (app: TestApp) => {
        await app.schedules.patch("s", { priority: 3 }, { ...by, version: 1 })
      },
    ],
    [
      "edited in its times",
      async (app: TestApp) => {
        await app.schedules.patch("s", { offset: "30m" }, { ...by, version: 1 })
      },
    ],
  ] as const)("keeps a planned occurrence within its jitter, when it is %s", async (_, change) => {
    const { app, create } = await stage()
    await create({ jitter: "50m", overlap: "allow" }, { every: "1h" })
    await app.clock.advance("3601s")
    expect((await app.schedules.fires("s")).fires).toEqual([])
    await change(app)
    await app.clock.advance("2h")
    const { fires } = await app.schedules.fires("s")
    expect(fires.map(({ occurrence }) => brief(occurrence))).toContain("10:00")
    await app.close()
  })

  it("stays paused when a new pause comes before the end of the old one is noticed", async () => {
    const { app, seen, create } = await stage()
    await create()
    await app.schedules.pause("s", { ...by, until: new Date("2026-03-02T09:15Z") })
    await app.clock.set("2026-03-02T09:30Z")
    expect(await app.schedules.pause("s", by)).toBe(true)
    expect(await app.schedules.pause("s", by)).toBe(false)
    await app.clock.advance("1h")
    expect(seen).toEqual([])
    expect(await app.schedules.get("s")).toMatchObject({
      state: "paused",
      pausedAt: new Date("2026-03-02T09:00Z"),
    })
    await app.close()
  })

  it("is changed in part by a caller that has read its latest version, and by no other", async () => {
    const { app, seen, create } = await stage()
    const made = await create({ timeout: "1m", notes: "old", input: "x" })
    const changed = await app.schedules.patch(
      "s",
      { notes: null, priority: 5 },
      { ...by, version: made.version },
    )
    expect(changed).toMatchObject({ version: 2, settings: { timeoutMs: 60_000, priority: 5 }, input: "x" })
    expect(changed.settings.notes).toBeUndefined()
    expect(changed.next).toEqual(made.next)
    const late = app.schedules.patch("s", { priority: 9 }, { ...by, version: made.version })
    await expect(late).rejects.toMatchObject({
      code: "SCHEDULE_CHANGED",
      message: expect.stringMatching("version 2"),
    })
    const at20 = await app.schedules.patch("s", { every: "20m", input: "y" }, { ...by, version: 2 })
    expect(at20).toMatchObject({ spec: { every: "20m" }, version: 3, input: "y" })
    await app.clock.advance("25m")
    expect(seen).toEqual([["09:20", undefined, undefined, "y"]])
    const wrong = app.schedules.patch("s", { overlap: "maybe" as "skip" }, { ...by, version: 3 })
    await expect(wrong).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    expect((await app.schedules.get("s"))?.version).toBe(3)
    await app.close()
  })

  it("is changed by one of ten concurrent edits, and the others are refused", async () => {
    const { app, create } = await stage()
    await create()
    const tries = Array.from({ length: 10 }, (_, index) =>
      app.schedules.patch("s", { priority: index }, { ...by, version: 1 }).then(
        ({ settings }) => settings.priority,
        (error: { code: string }) => error.code,
      ),
    )
    const ends = await Promise.all(tries)
    expect(ends.filter((end) => end === "SCHEDULE_CHANGED")).toHaveLength(9)
    const { version, settings } = (await app.schedules.get("s")) ?? {}
    expect([version, settings?.priority]).toEqual([2, ends.find((end) => typeof end === "number")])
    await app.close()
  })

  it("starts with the minute of its creation, or with a run at once, if the options say so", async () => {
    const { app, seen, create } = await stage()
    await app.clock.set("2026-03-02T09:10:30Z")
    await create({ includeCurrentMinute: true })
    await create({ name: "t", runOnCreate: true, input: "t" })
    await app.drain()
    const first = ["09:10", undefined, undefined, undefined]
    expect(seen.toSorted()).toEqual([first, ["by hand", undefined, undefined, "t"]])
    await app.close()
  })

  it("whose time is over when it is created does nothing, and shows it", async () => {
    const { app, seen, create } = await stage()
    const once = await create({}, { at: "2026-01-01T00:00Z" })
    expect(once).toMatchObject({ state: "missed" })
    expect(once.next).toBeUndefined()
    const over = await create({ name: "t", endAt: new Date("2026-02-01T00:00Z") })
    expect(over.state).toBe("completed")
    await app.clock.advance("1d")
    expect(seen).toEqual([])
    await app.close()
  })

  it("with the settings of a cron daemon retries until its next occurrence, which replaces it", async () => {
    const seen: string[] = []
    const job = defineJob({
      name: "flaky",
      run: async (_: undefined, ctx) => {
        seen.push(`${brief(ctx.occurrence)} ${ctx.attempt}`)
        throw new Error("no")
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-02T09:00:20Z", lease: "1d" })
    await app.schedules.create({ name: "c", job, ...classic({ cron: "0,10 * * * *", retryDelay: "4m" }) })
    await app.clock.advance("12m")
    expect(seen).toEqual(["09:00 1", "09:00 2", "09:00 3", "09:10 1"])
  })

  it("is replayed as what it was: a dead run still knows what it makes up for", async () => {
    const missed: (number | undefined)[] = []
    const job = defineJob({
      name: "dying",
      retry: { attempts: 1 },
      run: async (_: undefined, ctx) => {
        missed.push(ctx.missed?.count)
        throw new Error("no")
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d" })
    await app.schedules.create({ name: "d", job, every: "10m" })
    await app.clock.set("2026-03-02T09:35Z")
    await app.drain()
    const [fire] = (await app.schedules.fires("d")).fires
    await app.deadLetters.replay(fire?.run ?? "", by)
    await app.drain()
    expect(missed).toEqual([2, 2])
  })
})
