/** Schedules as users see them: created, changed, paused, run by hand, skipped, ended, and their records. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type ScheduleOptions } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }

describe.each(["memory", "postgres18"] as const)("schedules, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  async function stage({ fails = false } = {}) {
    const ran: string[] = []
    const job = defineJob({
      name: "work",
      retry: { attempts: 3, delay: "15m" },
      run: async (input: string | undefined, ctx) => {
        ran.push(`${input ?? ""}${ctx.occurrence?.toISOString().slice(11, 16) ?? "by hand"}`)
        if (fails) throw new Error("not yet")
      },
    })
    const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z" })
    const nightly = (more: Partial<ScheduleOptions<string | undefined>> = {}) =>
      ({ name: "nightly", cron: "*/10 * * * *", job, ...more }) as ScheduleOptions<string | undefined>
    return { app, job, ran, nightly }
  }

  const brief = ({
    fires,
  }: {
    fires: readonly { occurrence: Date; outcome: string; reason?: string; count: number }[]
  }) =>
    fires.map(({ occurrence, outcome, reason, count }) =>
      [occurrence.toISOString().slice(11, 16), outcome, reason, count]
        .filter((part) => part !== undefined)
        .join(" "),
    )

  it("run their job at their times, and say when they come next", async () => {
    const { app, ran, nightly } = await stage()
    const made = await app.schedules.create(nightly({ input: "x " }))
    expect(made).toMatchObject({
      name: "nightly",
      state: "active",
      version: 1,
      spec: { cron: "*/10 * * * *" },
      next: { occurrence: new Date("2026-03-02T09:10Z"), due: new Date("2026-03-02T09:10Z") },
    })
    await app.clock.advance("35m")
    expect(ran).toEqual(["x 09:10", "x 09:20", "x 09:30"])
    expect(await app.schedules.get("nightly")).toMatchObject({
      fired: 3,
      live: 0,
      next: { occurrence: new Date("2026-03-02T09:40Z") },
    })
    const [newest] = (await app.schedules.fires("nightly")).fires
    expect(newest).toMatchObject({
      outcome: "fired",
      state: "succeeded",
      occurrence: new Date("2026-03-02T09:30Z"),
    })
    await app.close()
  })

  it("have a unique name: a second create is refused, and a put of the same one may repeat", async () => {
    const { app, nightly } = await stage()
    await app.schedules.create(nightly())
    await expect(app.schedules.create(nightly())).rejects.toMatchObject({ code: "SCHEDULE_EXISTS" })
    expect((await app.schedules.put(nightly())).outcome).toBe("unchanged")
    const { cron, ...rest } = nightly({ timeZone: "Europe/Oslo" } as never) as { cron: string }
    expect((await app.schedules.put({ cron, ...rest } as never)).outcome).toBe("changed")
    expect((await app.schedules.put({ ...rest, cron } as never)).outcome).toBe("unchanged")
    expect((await app.schedules.put(nightly({ tenant: "acme" }))).outcome).toBe("created")
    const { schedules } = await app.schedules.list()
    expect(schedules.map(({ name, tenant }) => [name, tenant])).toEqual([
      ["nightly", undefined],
      ["nightly", "acme"],
    ])
    await app.close()
  })

  it("that are edited decide due occurrences by the old times, and count from then on by the new ones", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly())
    await app.clock.advance("15m")
    await app.clock.set("2026-03-02T09:31Z")
    const { outcome, schedule } = await app.schedules.put(nightly({ cron: "45 * * * *" } as never))
    expect(outcome).toBe("changed")
    expect(schedule).toMatchObject({ version: 2, next: { occurrence: new Date("2026-03-02T09:45Z") } })
    await app.clock.advance("1h")
    expect(ran).toEqual(["09:10", "09:30", "09:45"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual([
      "09:45 fired 1",
      "09:30 fired 1",
      "09:20 coalesced latest 1",
      "09:10 fired 1",
    ])
    await app.close()
  })

  it("that are paused make no runs, and skip the pause instead of making up for it", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly({ misfire: "all" }))
    await app.clock.advance("10m")
    expect(await app.schedules.pause("nightly", by)).toBe(true)
    expect(await app.schedules.pause("nightly", by)).toBe(false)
    expect(await app.schedules.get("nightly")).toMatchObject({ state: "paused", cause: by })
    await app.clock.advance("1h")
    expect(await app.schedules.resume("nightly", by)).toBe(true)
    expect(await app.schedules.resume("nightly", by)).toBe(false)
    await app.clock.advance("10m")
    expect(ran).toEqual(["09:10", "10:20"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual([
      "10:20 fired 1",
      "09:20 skipped paused 6",
      "09:10 fired 1",
    ])
    await app.close()
  })

  it("that are edited while paused keep account of what they skipped", async () => {
    const { app, nightly } = await stage()
    await app.schedules.create(nightly())
    await app.schedules.pause("nightly", by)
    await app.clock.set("2026-03-02T09:35Z")
    const { schedule } = await app.schedules.put(nightly({ cron: "*/20 * * * *" }))
    expect(schedule.state).toBe("paused")
    expect(brief(await app.schedules.fires("nightly"))).toEqual(["09:10 skipped paused 3"])
    await app.clock.set("2026-03-02T09:45Z")
    await app.schedules.resume("nightly", by)
    expect(brief(await app.schedules.fires("nightly"))).toEqual([
      "09:40 skipped paused 1",
      "09:10 skipped paused 3",
    ])
    await app.close()
  })

  it("of a job that no process has declared use the settings of the job", async () => {
    await using app = await kit.app({ at: "2026-03-02T09:00Z" })
    const mail = defineJob({ name: "mail", pool: "slow", priority: 7, run: async () => {} })
    await app.schedules.create({ name: "mails", job: mail, every: "10m", overlap: "allow" })
    await app.clock.advance("10m")
    const [fire] = (await app.schedules.fires("mails")).fires
    expect(await app.runs.get(fire?.run ?? "")).toMatchObject({ pool: "slow", priority: 7 })
  })

  it("make up, after a resume, for what was missed before the pause", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly({ misfire: "all" }))
    // No tick: the scheduler is down.
    await app.clock.set("2026-03-02T09:25Z")
    await app.schedules.pause("nightly", by)
    await app.clock.set("2026-03-02T09:45Z")
    await app.schedules.resume("nightly", by)
    await app.drain()
    expect(ran).toEqual(["09:10", "09:20"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual([
      "09:30 skipped paused 2",
      "09:20 fired 1",
      "09:10 fired 1",
    ])
    await app.close()
  })

  it("have nothing left to skip when the missed occurrences have used up their runs", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly({ misfire: "all", maxRuns: 1 }))
    await app.clock.set("2026-03-02T09:25Z")
    await app.schedules.pause("nightly", by)
    await app.clock.set("2026-03-02T09:45Z")
    await app.schedules.resume("nightly", by)
    await app.drain()
    expect(ran).toEqual(["09:10"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual(["09:10 fired 1"])
    expect(await app.schedules.get("nightly")).toMatchObject({ state: "completed" })
    await app.close()
  })

  it("with a pause until some time go on by themselves", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly())
    await app.schedules.pause("nightly", { ...by, until: new Date("2026-03-02T09:25Z") })
    await app.clock.advance("24m")
    expect(ran).toEqual([])
    await app.clock.advance("10m")
    expect(ran).toEqual(["09:30"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual(["09:30 fired 1", "09:10 skipped paused 2"])
    await app.close()
  })

  it("run by hand beside their occurrences, and obey their overlap", async () => {
    const { app, ran, nightly } = await stage({ fails: true })
    await app.schedules.create(nightly())
    const now = await app.schedules.runNow("nightly", by)
    expect(now).toEqual({ run: expect.any(String) })
    await app.drain()
    // It waits for its retry: it is not finished.
    expect(await app.schedules.runNow("nightly", by)).toEqual({ skipped: "overlap" })
    expect(await app.schedules.runNow("nightly", { ...by, overlap: "allow" })).toEqual({
      run: expect.any(String),
    })
    await app.drain()
    expect(ran).toEqual(["by hand", "by hand"])
    await app.clock.advance("10m")
    expect(brief(await app.schedules.fires("nightly"))).toEqual([
      "09:10 skipped overlap 1",
      "09:00 fired 1",
      "09:00 fired 1",
    ])
    expect((await app.schedules.get("nightly"))?.fired).toBe(0)
    await app.close()
  })

  it("skip their next occurrence after skipNext", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly())
    expect(await app.schedules.skipNext("nightly", by)).toEqual(new Date("2026-03-02T09:10Z"))
    await app.clock.advance("20m")
    expect(ran).toEqual(["09:20"])
    expect(brief(await app.schedules.fires("nightly"))).toEqual(["09:20 fired 1", "09:10 skipped request 1"])
    await app.close()
  })

  it("that are cancelled end, and stay visible; those that are deleted are gone, but their runs are not", async () => {
    const { app, ran, nightly } = await stage()
    await app.schedules.create(nightly())
    await app.clock.advance("10m")
    expect(await app.schedules.cancel("nightly", by)).toBe(true)
    expect(await app.schedules.cancel("nightly", by)).toBe(false)
    await app.clock.advance("1h")
    expect(ran).toEqual(["09:10"])
    expect((await app.schedules.fires("nightly")).fires).toHaveLength(1)
    await expect(app.schedules.put(nightly({ misfire: "all" }))).rejects.toMatchObject({
      code: "SCHEDULE_STATE",
    })
    await expect(app.schedules.resume("nightly", by)).rejects.toMatchObject({ code: "SCHEDULE_STATE" })
    expect(await app.schedules.delete("nightly", by)).toBe(true)
    expect(await app.schedules.delete("nightly", by)).toBe(false)
    expect(await app.schedules.get("nightly")).toBeUndefined()
    expect((await app.runs.list({ filter: { job: "work" } })).items).toHaveLength(1)
    await expect(app.schedules.fires("nightly")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" })
    await app.close()
  })

  it("that queue hold the next run while one waits for its retry", async () => {
    const { app, ran, nightly } = await stage({ fails: true })
    await app.schedules.create(nightly({ overlap: "queue" }))
    await app.clock.advance("24m")
    // 09:10 failed and waits until 09:25; 09:20 is in line behind it.
    expect(ran).toEqual(["09:10"])
    await app.clock.advance("20m")
    expect(ran).toEqual(["09:10", "09:10", "09:10", "09:20"])
    await app.close()
  })

  it("are listed in pages, of one state or of all", async () => {
    const { app, nightly } = await stage()
    for (const name of ["a", "b", "c", "d", "e"]) await app.schedules.create(nightly({ name }))
    await app.schedules.pause("c", by)
    const first = await app.schedules.list({ limit: 2 })
    expect(first.schedules.map(({ name }) => name)).toEqual(["a", "b"])
    const rest = await app.schedules.list({ limit: 10, cursor: first.cursor as string })
    expect(rest.schedules.map(({ name }) => name)).toEqual(["c", "d", "e"])
    expect(rest.cursor).toBeUndefined()
    expect((await app.schedules.list({ state: "paused" })).schedules.map(({ name }) => name)).toEqual(["c"])
    await expect(app.schedules.list({ cursor: "[]" })).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await app.close()
  })

  it.each<[string, object, RegExp]>([
    ["no times", { cron: undefined }, /exactly one of `cron`, `every`, `at`/],
    ["no times, said in words", { cron: undefined }, /`afterCompletion`, got none of them/],
    ["two kinds of times", { every: "1h" }, /exactly one of .*, got `cron` and `every`/],
    [
      "a calendar without a unit",
      { cron: undefined, every: {} },
      /exactly one of `days`.*, got none of them/,
    ],
    ["a wrong cron expression", { cron: "61 * * * *" }, /61/],
    ["a day that never comes", { cron: "0 0 30 2 *" }, /never fire/],
    ["an unknown option", { misfir: "all" }, /misfir.*misfire/s],
    ["a combination that cannot be honoured", { misfire: "all", overlap: "skip" }, /only the first/],
    ["another system's word for something else", { overlap: "BufferOne" }, /keeps the oldest/],
    ["no name", { name: "" }, /name/],
    ["an input that is none", { input: 7n }, /./],
  ])("with %s are refused, and nothing is written", async (_, wrong, words) => {
    const { app, nightly } = await stage()
    await expect(app.schedules.create(nightly(wrong as never))).rejects.toThrow(words)
    expect((await app.schedules.list()).schedules).toEqual([])
    await app.close()
  })
})
