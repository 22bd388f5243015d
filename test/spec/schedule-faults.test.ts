/** Schedules in trouble: one broken schedule does not stop the others. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type ScheduleOptions } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, hold, rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const brief = (date: Date | undefined) => date?.toISOString().slice(11, 16)

describe.each(["memory", "postgres18"] as const)("schedules, on %s", (where) => {
  const itWithConnections = it.skipIf(where === "memory")
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? "memory" : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  async function stage() {
    const gate = createGate()
    const said: string[] = []
    const job = defineJob({
      name: "work",
      retry: { attempts: 1 },
      run: async (input: string | undefined, ctx) => {
        said.push(brief(ctx.occurrence) ?? "by hand")
        if (input === "waits") await gate.opened
        if (input === "fails") throw new Error("no")
      },
    })
    const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d" })
    const create = (more: object = {}, when: object = { cron: "*/10 * * * *" }) =>
      app.schedules.create({ name: "s", job, ...when, ...more } as ScheduleOptions<string | undefined>)
    const now = async (time: string) => {
      await app.clock.set(`2026-03-02T${time}Z`)
      await app.tick()
      await app.tick()
    }
    const fires = async (name = "s") =>
      [...(await app.schedules.fires(name)).fires]
        .reverse()
        .map(({ occurrence, outcome, reason }) => [brief(occurrence), outcome, reason].join(" ").trim())
    return { app, job, gate, said, create, now, fires }
  }

  it("refuse a text in their times that the database cannot store", async () => {
    const { app, create } = await stage()
    await create()
    for (const name of ["x\0", "x\ud800"]) {
      const changes = { exclude: [name], calendars: { [name]: ["2026-12-25"] } }
      const patch = app.schedules.patch("s", changes, { ...by, version: 1 })
      await expect(patch).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    }
    await app.close()
  })

  it("go on when a later version has written a value that this version does not understand", async () => {
    const { app, create, now, fires } = await stage()
    await create()
    await create({ name: "odd", pauseAfterFailures: 3 })
    const { id } = (await app.schedules.get("odd")) ?? {}
    await execute(
      app.database,
      `update {schedules} set settings = '{"pauseAfterFailures": "many"}' where name = 'odd';
        insert into {schedule_ends} (schedule, ended_at, failures) values ('${id}', now(), 1)`,
    )
    await now("09:10")
    expect(await fires()).toEqual(["09:10 fired"])
    await app.close()
  })

  itWithConnections("go on when another session locks one whose pause is over", async () => {
    const { app, create, now, fires } = await stage()
    await create()
    await create({ name: "held" })
    await app.schedules.pause("held", { ...by, until: new Date("2026-03-02T09:05Z") })
    const theirs = await hold(app.database, "select from {schedules} where name = 'held' for update")
    await now("09:10")
    expect(await fires()).toEqual(["09:10 fired"])
    await theirs.release()
    await now("09:11")
    expect((await app.schedules.get("held"))?.state).toBe("active")
    await app.close()
  })

  it("with too many unfinished runs stay paused until those have ended, and then skip the pause", async () => {
    const { app, create, now, fires, gate } = await stage()
    await create({ misfire: "all", maxQueued: 2, input: "waits" }, { every: "1m" })
    await now("09:05")
    await app.schedules.pause("s", { ...by, until: new Date("2026-03-02T09:08Z") })
    await now("09:09")
    expect(await app.schedules.get("s")).toMatchObject({ state: "paused", live: 2 })
    gate.open()
    await app.drain()
    await app.clock.advance("30s")
    const decided = await fires()
    expect(decided.filter((fire) => fire.endsWith("fired"))).toEqual(
      ["09:01", "09:02", "09:03", "09:04"].map((at) => `${at} fired`),
    )
    expect(decided.at(-1)).toBe("09:05 skipped paused")
    await app.close()
  })

  it("of different tenants never share an overlap key, whatever they call it", async () => {
    const { app, create, said, now, gate } = await stage()
    await create({ tenant: "a", overlapKey: "b:c", overlap: "queue", input: "waits" })
    await create({ tenant: "a:b", overlapKey: "c", overlap: "replace", input: "waits" })
    await now("09:10")
    expect(said).toEqual(["09:10", "09:10"])
    gate.open()
    await app.close()
  })

  it("with a shared overlap key wait for each other, and none takes what another has in line", async () => {
    const { app, create, now, fires, gate } = await stage()
    await create({ name: "q", overlapKey: "k", misfire: "all", overlap: "queue", input: "waits" })
    await create({ name: "c", overlapKey: "k", overlap: "collapse", input: "waits" }, { cron: "25 * * * *" })
    for (const time of ["09:10", "09:20", "09:25"]) await now(time)
    expect(await fires("q")).toEqual(["09:10 fired", "09:20 fired"])
    gate.open()
    await app.drain()
    expect(await rowsOf(app.database, "select from {runs}")).toEqual([])
    expect(await rowsOf(app.database, "select from {run_limits}")).toEqual([])
    await app.close()
  })

  it.each([
    [
      "a pause",
      async ({ app }: Awaited<ReturnType<typeof stage>>) => {
        await app.schedules.pause("s", by)
        await app.schedules.resume("s", by)
      },
    ],
    [
      "an edit",
      async ({ app }: Awaited<ReturnType<typeof stage>>) => {
        await app.schedules.patch("s", { afterCompletion: "11m" }, { ...by, version: 1 })
      },
    ],
  ] as const)("that count from the end of their last run fire after %s in between", async (_, change) => {
    const all = await stage()
    const { app, create, now, fires, gate } = all
    await create({ input: "waits" }, { afterCompletion: "10m" })
    await now("09:10")
    await now("09:12")
    await change(all)
    await now("09:50")
    gate.open()
    await app.drain()
    await app.clock.set("2026-03-02T09:55Z")
    await app.drain()
    expect(await fires()).toEqual(["09:10 fired"])
    await app.clock.advance("7m")
    expect(await fires()).toHaveLength(2)
    await app.close()
  })

  itWithConnections("are run by hand once by many concurrent calls, where only one may run", async () => {
    const { app, create } = await stage()
    await create()
    const asked = await Promise.all(Array.from({ length: 5 }, () => app.schedules.runNow("s", by)))
    expect(asked.filter((each) => "run" in each)).toHaveLength(1)
    await app.close()
  })

  it("do not change existing runs, unless the edit says to change or end the waiting ones", async () => {
    const { app, job, create, now, gate } = await stage()
    await create({ overlap: "queue", input: "waits" })
    for (const time of ["09:10", "09:20"]) await now(time)
    const inputs = async () =>
      (await rowsOf(app.database, "select {schema}.state(runs), input from {runs} order by occurrence")).map(
        ({ state, input }) => `${state} ${input}`,
      )
    await app.schedules.patch("s", { input: "a" }, { ...by, version: 1 })
    expect(await inputs()).toEqual(["running waits", "parked waits"])
    const put = { name: "s", job, cron: "*/10 * * * *", overlap: "queue", input: "b" } as const
    await app.schedules.put(put, { ...by, applyToQueued: true })
    expect(await inputs()).toEqual(["running waits", "parked b"])
    const [, parked] = [...(await app.schedules.fires("s")).fires].reverse()
    expect(await app.schedules.delete("s", { ...by, cancelQueued: true })).toBe(true)
    expect(await inputs()).toEqual(["running waits"])
    expect(await app.runs.wait(parked?.run ?? "")).toMatchObject({ state: "cancelled" })
    gate.open()
    await app.drain()
    expect(await rowsOf(app.database, "select from {schedule_ends}")).toEqual([])
    await create({ overlap: "queue" })
    expect(await app.schedules.cancel("s", { ...by, cancelQueued: true })).toBe(true)
    await app.close()
  })

  it.each([
    ["resumed", (app: WatchedApp) => app.schedules.resume("s", by)],
    ["deleted", (app: WatchedApp) => app.schedules.delete("s", by)],
    ["cancelled", (app: WatchedApp) => app.schedules.cancel("s", by)],
  ] as const)("that are paused with their runs hold those, until they are %s", async (_, end) => {
    const { app, create, said, now, gate } = await stage()
    await create({ overlap: "queue", input: "waits" })
    await create({ name: "t", overlap: "allow" })
    await app.jobs.pause("work", by)
    for (const time of ["09:10", "09:20"]) await now(time)
    await app.schedules.pause("s", { ...by, hold: true })
    await app.schedules.pause("t", { ...by, hold: true })
    await app.jobs.resume("work", by)
    await now("09:25")
    expect(said).toEqual([])
    const held = "select parked_for from {runs} where parked_for = 'hold'"
    expect(await rowsOf(app.database, held)).toHaveLength(4)
    await end(app)
    await app.schedules.resume("t", by)
    await now("09:26")
    expect(said.toSorted()).toEqual(["09:10", "09:10", "09:20"])
    gate.open()
    await app.drain()
    expect(said.toSorted()).toEqual(["09:10", "09:10", "09:20", "09:20"])
    expect(await rowsOf(app.database, "select from {run_limits}")).toEqual([])
    await app.close()
  })

  it("that have had all their runs stay completed through every edit", async () => {
    const { app, create, now } = await stage()
    await create({ maxRuns: 1 })
    await now("09:10")
    await app.drain()
    expect(await app.schedules.patch("s", { notes: "x" }, { ...by, version: 1 })).toMatchObject({
      state: "completed",
    })
    const other = await app.schedules.patch("s", { cron: "*/5 * * * *" }, { ...by, version: 2 })
    expect(other).toMatchObject({ state: "completed", fired: 1 })
    const more = await app.schedules.patch("s", { maxRuns: 2 }, { ...by, version: 3 })
    expect(more).toMatchObject({ state: "active" })
    await create({ name: "late" }, { at: "2026-03-02T08:00Z" })
    expect(await app.schedules.patch("late", { notes: "x" }, { ...by, version: 1 })).toMatchObject({
      state: "missed",
    })
    await app.close()
  })

  it("are patched in the given fields, and in no other", async () => {
    const { app, create } = await stage()
    const made = await create({ maxAttempts: 3, priority: 4 })
    expect(made.settings.retry).toEqual({ attempts: 3 })
    const five = await app.schedules.patch("s", { maxAttempts: 5, priority: undefined } as never, {
      ...by,
      version: 1,
    })
    expect(five.settings).toMatchObject({ retry: { attempts: 5 }, priority: 4 })
    const none = await app.schedules.patch("s", { maxAttempts: null }, { ...by, version: 2 })
    expect(none.settings.retry).toBeUndefined()
    for (const fixed of [{ name: "t" }, { tenant: "t" }, { job: "t" }]) {
      const patch = app.schedules.patch("s", fixed as never, { ...by, version: 3 })
      await expect(patch).rejects.toThrow(/cannot be changed/)
    }
    await app.close()
  })
})
