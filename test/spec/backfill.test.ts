/** Backfills: which past occurrences get a run, in which order, and beside the live ones. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type BackfillOptions, defineJob, type ScheduleOptions } from "../../src/index.ts"
import type { TestApp } from "../../src/testing/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const at = (time: string) => new Date(`2026-03-02T${time}Z`)

describe.each(["memory", "postgres18"] as const)("a backfill, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  async function stage(more: object = {}, wrong: { fails?: (occurrence: string) => boolean } = {}) {
    const ran: string[] = []
    const keys: string[] = []
    let [running, most] = [0, 0]
    const job = defineJob({
      name: "work",
      retry: { attempts: 2, delay: "5m" },
      run: async (_input, ctx) => {
        const occurrence = ctx.occurrence?.toISOString().slice(11, 16) ?? "by hand"
        ran.push(occurrence)
        keys.push(ctx.idempotencyKey)
        running += 1
        most = Math.max(most, running)
        await Promise.resolve()
        running -= 1
        if (wrong.fails?.(occurrence)) throw new Error("not yet")
      },
    })
    const app = await kit.app({ jobs: [job], at: at("09:00").toISOString() })
    const options = { name: "report", every: "10m", job, ...more } as ScheduleOptions<unknown>
    await app.schedules.create(options)
    return { app, ran, keys, options, most: () => most }
  }

  const fill = (app: TestApp, from: string, to: string, more: Partial<BackfillOptions> = {}) =>
    app.schedules.backfill("report", { ...by, from: at(from), to: at(to), ...more })

  const ledger = async (app: TestApp) =>
    (await app.schedules.fires("report", { limit: 1_000 })).fires
      .map(({ occurrence, outcome, generation, count, state }) =>
        [occurrence.toISOString().slice(11, 16), outcome, generation, count, state]
          .filter((part) => part !== undefined)
          .join(" "),
      )
      .toReversed()

  it("runs the occurrences from before the schedule existed, from `from` to before `to`, oldest first", async () => {
    const { app, ran, keys } = await stage()
    expect(await fill(app, "08:00", "08:30")).toEqual({ count: 3, runs: 3 })
    await app.drain()
    expect(ran).toEqual(["08:00", "08:10", "08:20"])
    const { id, next, fired } = (await app.schedules.get("report")) ?? {}
    expect(keys[0]).toBe(`schedule:${id}:occurrence:2026-03-02T08:00:00.000Z`)
    expect({ next, fired }).toMatchObject({ next: { occurrence: at("09:10") }, fired: 0 })
    expect(await fill(app, "08:00", "08:30")).toEqual({ count: 0, runs: 0 })
    await app.close()
  })

  it("starts with the newest occurrence, and runs several at once, when the options say so", async () => {
    const { app, ran, most } = await stage()
    await fill(app, "08:00", "08:30", { order: "newest" })
    await app.drain()
    expect(ran).toEqual(["08:20", "08:10", "08:00"])
    expect(most()).toBe(1)
    await fill(app, "07:00", "07:40", { order: "newest", maxParallel: 2 })
    await app.drain()
    expect(ran.slice(3, 5).toSorted()).toEqual(["07:20", "07:30"])
    expect(ran.slice(5).toSorted()).toEqual(["07:00", "07:10"])
    expect(most()).toBe(2)
    await app.close()
  })

  it("by default runs one at a time, and waits for the retry of one before it begins the next", async () => {
    const { app, ran, most } = await stage({}, { fails: (occurrence) => occurrence === "08:00" })
    await fill(app, "08:00", "08:20")
    await app.drain()
    expect(ran).toEqual(["08:00"])
    await app.clock.advance("6m")
    expect(ran).toEqual(["08:00", "08:00", "08:10"])
    expect(most()).toBe(1)
    await app.close()
  })

  it("keeps the places of runs that wait for a retry when several run at once", async () => {
    const { app, ran } = await stage({}, { fails: (occurrence) => occurrence < "08:20" })
    await fill(app, "08:00", "08:40", { maxParallel: 2 })
    await app.drain()
    expect(ran.toSorted()).toEqual(["08:00", "08:10"])
    await app.clock.advance("6m")
    expect(ran.slice(2).toSorted()).toEqual(["08:00", "08:10", "08:20", "08:30"])
    await app.close()
  })

  it("gives runs to occurrences that were skipped or made up for, and keeps their ledger rows", async () => {
    const { app, ran } = await stage()
    await app.clock.set(at("09:45"))
    await app.drain()
    expect(ran).toEqual(["09:40"])
    expect(await fill(app, "09:00", "09:45")).toEqual({ count: 4, runs: 4 })
    await app.drain()
    expect(ran).toEqual(["09:40", "09:00", "09:10", "09:20", "09:30"])
    expect(await ledger(app)).toEqual([
      "09:00 fired 1 1 succeeded",
      "09:10 coalesced 1 3",
      "09:10 fired 2 1 succeeded",
      "09:20 fired 1 1 succeeded",
      "09:30 fired 1 1 succeeded",
      "09:40 fired 1 1 succeeded",
    ])
    await app.close()
  })

  it("runs failed occurrences again with `failed`, and all of them with `all`, each under its own key", async () => {
    const failing = new Set(["09:10"])
    const { app, ran, keys } = await stage(
      { overlap: "allow" },
      { fails: (occurrence) => failing.has(occurrence) },
    )
    await app.clock.advance("35m")
    expect(ran).toEqual(["09:10", "09:10", "09:20", "09:30"])
    failing.clear()
    expect(await fill(app, "09:10", "09:30")).toEqual({ count: 0, runs: 0 })
    expect(await fill(app, "09:10", "09:30", { reprocess: "failed" })).toEqual({ count: 1, runs: 1 })
    // That run is still going to happen: no second one beside it.
    expect(await fill(app, "09:10", "09:20", { reprocess: "all" })).toEqual({ count: 0, runs: 0 })
    await app.drain()
    expect(await fill(app, "09:10", "09:30", { reprocess: "failed" })).toEqual({ count: 0, runs: 0 })
    expect(await fill(app, "09:10", "09:30", { reprocess: "all" })).toEqual({ count: 2, runs: 2 })
    await app.drain()
    expect(ran.slice(4)).toEqual(["09:10", "09:10", "09:20"])
    expect(await ledger(app)).toEqual([
      "09:10 fired 1 1 dead",
      "09:10 fired 2 1 succeeded",
      "09:10 fired 3 1 succeeded",
      "09:20 fired 1 1 succeeded",
      "09:20 fired 2 1 succeeded",
      "09:30 fired 1 1 succeeded",
    ])
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(keys.length - 1)
    const { items } = await app.runs.list({ filter: { job: "work" } })
    expect(new Set(items.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set(keys))
    await app.close()
  })

  it("blocks nothing: occurrences that come due meanwhile are neither skipped nor delayed", async () => {
    const { app, ran } = await stage({}, { fails: (occurrence) => occurrence < "09:00" })
    await fill(app, "08:00", "08:30")
    await app.drain()
    await app.clock.set(at("09:04"))
    await app.clock.advance("7m")
    expect(ran).toEqual(["08:00", "08:00", "08:10", "08:10", "09:10", "08:20"])
    expect(await app.schedules.get("report")).toMatchObject({ fired: 1, live: 0 })
    await app.close()
  })

  it("still blocks nothing when one of its dead letters is replayed", async () => {
    const { app, ran } = await stage({}, { fails: (occurrence) => occurrence < "09:00" })
    await fill(app, "08:00", "08:10")
    await app.clock.advance("6m")
    const { fires } = await app.schedules.fires("report")
    await app.deadLetters.replay(fires[0]?.run ?? "", by)
    expect(await app.schedules.get("report")).toMatchObject({ live: 0 })
    await app.clock.advance("4m")
    expect(ran).toEqual(["08:00", "08:00", "08:00", "09:10"])
    await app.close()
  })

  it("queues with the schedule when it shares the overlap", async () => {
    const { app, ran } = await stage({}, { fails: (occurrence) => occurrence < "09:00" })
    await fill(app, "08:00", "08:30", { shareOverlap: true })
    await app.drain()
    expect(await app.schedules.get("report")).toMatchObject({ live: 3 })
    await app.clock.advance("10m")
    expect(ran).not.toContain("09:10")
    expect(await ledger(app)).toContain("09:10 skipped 1 1")
    await app.close()
  })

  it("uses a lower priority than the schedule, its pool, and no limit on the wait", async () => {
    const { app } = await stage({ priority: 5, pool: "slow", startWithin: "1m" })
    await fill(app, "08:00", "08:10")
    await fill(app, "08:10", "08:20", { priority: 9 })
    const { fires } = await app.schedules.fires("report")
    const records = await Promise.all(fires.map(({ run }) => app.runs.get(run ?? "")))
    expect(records).toMatchObject([
      { pool: "slow", priority: 9 },
      { pool: "slow", priority: 4 },
    ])
    await app.clock.advance("1h")
    expect(await app.runs.get(fires[1]?.run ?? "")).toMatchObject({ state: "parked" })
    await app.close()
  })

  it("with dryRun says how many runs it would make, and makes none", async () => {
    const { app } = await stage()
    expect(await fill(app, "08:00", "09:00", { dryRun: true })).toEqual({ count: 6 })
    expect(await ledger(app)).toEqual([])
    await app.close()
  })

  it("leaves occurrences to the schedule that the schedule has still to decide", async () => {
    const { app, ran } = await stage()
    await app.clock.set(at("09:35"))
    expect(await fill(app, "08:50", "09:35")).toEqual({ count: 2, runs: 2 })
    await app.drain()
    expect(ran.toSorted()).toEqual(["08:50", "09:00", "09:30"])
    expect(await ledger(app)).toEqual([
      "08:50 fired 1 1 succeeded",
      "09:00 fired 1 1 succeeded",
      "09:10 coalesced 1 2",
      "09:30 fired 1 1 succeeded",
    ])
    await app.close()
  })

  it("runs paused occurrences once, and the end of the pause reports the rest as skipped", async () => {
    const { app, ran } = await stage()
    await app.schedules.pause("report", by)
    await app.clock.set(at("09:45"))
    expect(await fill(app, "09:00", "09:25")).toEqual({ count: 3, runs: 3 })
    expect(await app.schedules.get("report")).toMatchObject({ state: "paused" })
    await app.drain()
    expect(ran).toEqual(["09:00", "09:10", "09:20"])
    await app.schedules.resume("report", by)
    expect(await ledger(app)).toEqual([
      "09:00 fired 1 1 succeeded",
      "09:10 fired 1 1 succeeded",
      "09:20 fired 1 1 succeeded",
      "09:30 skipped 1 2",
    ])
    expect(await fill(app, "09:00", "09:45")).toEqual({ count: 2, runs: 2 })
    await app.close()
  })

  it.each([
    ["all", ["09:10", "09:20", "09:30", "09:40"], 2],
    ["latest", ["09:10", "09:20", "09:40"], 1],
  ] as const)(
    "in a pause is neither repeated nor counted by a resume that makes up for it (%s)",
    async (misfire, expected, fired) => {
      const { app, ran } = await stage()
      await app.schedules.pause("report", by)
      await app.clock.set(at("09:45"))
      await fill(app, "09:10", "09:25")
      await app.drain()
      await app.schedules.resume("report", { ...by, misfire })
      await app.drain()
      expect(ran).toEqual(expected)
      expect(await app.schedules.get("report")).toMatchObject({ fired, next: { occurrence: at("09:50") } })
      await app.close()
    },
  )

  it("that dies halfway is completed by the next backfill, and nothing runs twice", async () => {
    const { app } = await stage({ every: "5s" })
    app.crashAt("backfill.committed")
    void fill(app, "08:00", "09:00").catch(() => {})
    await app.crashed()
    await app.restart()
    expect(await ledger(app)).toHaveLength(500)
    expect(await fill(app, "08:00", "09:00")).toEqual({ count: 220, runs: 220 })
    expect(await ledger(app)).toHaveLength(720)
    await app.close()
  })

  it("of more than ten thousand occurrences asks for `force`, and says how many there are", async () => {
    const { app } = await stage({ every: "1s" })
    const day = { ...by, from: new Date("2026-03-01T09:00Z"), to: at("09:00") }
    await expect(app.schedules.backfill("report", day)).rejects.toMatchObject({
      code: "BACKFILL_TOO_LARGE",
      message: expect.stringContaining("86400 occurrences"),
    })
    expect(await app.schedules.backfill("report", { ...day, dryRun: true, force: true })).toEqual({
      count: 86_400,
    })
    await app.close()
  })

  it("does not take occurrences for missing that the ledger has forgotten", async () => {
    const { app } = await stage({ every: "24h" })
    await app.clock.set("2026-07-15T09:00Z")
    const span = { ...by, from: new Date("2026-01-01T00:00Z"), to: new Date("2026-03-20T00:00Z") }
    await expect(app.schedules.backfill("report", span)).rejects.toMatchObject({
      code: "BACKFILL_UNKNOWN",
      message: expect.stringMatching(/between 2026-03-02T09:00.*and 2026-04-16T09:00/),
    })
    const before = { ...span, to: new Date("2026-03-02T09:00Z") }
    expect(await app.schedules.backfill("report", { ...before, dryRun: true })).toEqual({ count: 61 })
    await app.schedules.pause("report", by)
    expect(await app.schedules.backfill("report", { ...span, force: true, dryRun: true })).toEqual({
      count: 61,
    })
    await app.close()
  })

  it.each<[string, object, RegExp]>([
    ["of the future", { to: at("09:00:01") }, /to.*later than now/s],
    ["that ends before it begins", { to: at("07:00") }, /to.*not later than/s],
    ["of a word that is none", { reprocess: "faled" }, /did you mean "failed"/],
    ["that shares and runs several", { shareOverlap: true, maxParallel: 2 }, /maxParallel.*one at a time/s],
    ["that shares and turns the order", { shareOverlap: true, order: "newest" }, /order.*occurrences/s],
    ["of nothing at once", { maxParallel: 0 }, /maxParallel/],
  ])("%s is refused", async (_, wrong, words) => {
    const { app } = await stage()
    await expect(fill(app, "08:00", "08:30", wrong)).rejects.toThrow(words)
    expect(await ledger(app)).toEqual([])
    await app.close()
  })

  it("is refused for a schedule that does not exist or was cancelled", async () => {
    const { app } = await stage()
    await expect(
      app.schedules.backfill("another", { ...by, from: at("08:00"), to: at("08:30") }),
    ).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" })
    await app.schedules.cancel("report", by)
    await expect(fill(app, "08:00", "08:30")).rejects.toMatchObject({ code: "SCHEDULE_STATE" })
    await app.close()
  })
})
