/** What becomes of the schedules that code declares, from one deploy to the next. */
import { hostname, userInfo } from "node:os"
import { expect, it } from "vitest"
import { type CarillonOptions, defineJob, defineSchedule, type ScheduleOptions } from "../../src/index.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { createTestApp, type TestApp, type TestAppOptions } from "../../src/testing/test-app.ts"
import { describeEngines } from "../support/engines.ts"
import { rowsOf } from "../support/sql.ts"

const by = { actor: "ada", reason: "a test" }

describeEngines(
  "declared schedules",
  (engine) => {
    /** One schema, and the processes of successive deploys. */
    async function stage() {
      const { database } = await engine.migrated()
      const clock = await takeClock(database, "2026-03-02T09:00Z")
      const ran: string[] = []
      const job = defineJob({
        name: "work",
        run: async (input: string | undefined, ctx) => {
          ran.push(`${input ?? ""}${ctx.occurrence?.toISOString().slice(11, 16) ?? "by hand"}`)
        },
      })
      const schedule = (name: string, more: Partial<ScheduleOptions<string | undefined>> = {}) =>
        defineSchedule({ name, cron: "*/10 * * * *", job, ...more } as ScheduleOptions<string | undefined>)
      /** A process that starts with these schedules, after the one before has stopped. */
      let running: TestApp | undefined
      const deploy = async (names: CarillonOptions["schedules"], options: TestAppOptions = {}) => {
        await running?.stop()
        const app = await createTestApp({
          database,
          clock,
          options: { jobs: [job], ...(names && { schedules: names }), ...options },
          dispose: async () => {},
        })
        running = app
        await app.tick()
        return app
      }
      const audited = async () =>
        (
          await rowsOf(
            database,
            "select action, actor, reason from {audit} where action like 'schedule.%' order by at, action",
          )
        ).map(({ action, actor, reason }) => `${action} by ${actor}: ${reason}`)
      return { database, clock, job, ran, schedule, deploy, audited }
    }

    const told = (app: TestApp) =>
      app.events
        .filter(({ type }) => type.startsWith("schedule"))
        .map((event) => `${event.type} ${"name" in event ? event.name : ""}`.trim())
    const states = async (app: TestApp) =>
      Object.fromEntries((await app.schedules.list()).schedules.map(({ name, state }) => [name, state]))
    const brief = async (app: TestApp, name: string) =>
      (await app.schedules.fires(name)).fires.map(({ occurrence, outcome, reason, count }) =>
        [occurrence.toISOString().slice(11, 16), outcome, reason, count]
          .filter((part) => part !== undefined)
          .join(" "),
      )

    it("are created by the first start, fire, and are listed with the version that declares them", async () => {
      const { deploy, schedule, ran, audited } = await stage()
      const app = await deploy([schedule("nightly", { input: "x " }), schedule("hourly")], { version: "1.0" })
      expect(told(app)).toEqual(["schedule.declared nightly", "schedule.declared hourly"])
      expect(await app.schedules.get("nightly")).toMatchObject({
        state: "active",
        version: 1,
        input: "x ",
        next: { occurrence: new Date("2026-03-02T09:10Z") },
        declared: { version: "1.0" },
      })
      await app.schedules.create({
        name: "mine",
        job: defineJob({ name: "work", run: () => {} }),
        every: "1h",
      })
      expect(await app.schedules.get("mine")).not.toHaveProperty("declared")
      await app.clock.advance("10m")
      expect(ran.sort()).toEqual(["09:10", "x 09:10"])
      expect(await audited()).toEqual([
        `schedule.create by ${userInfo().username}@${hostname()}:${process.pid}: `,
        "schedule.declare by deploy: version 1.0",
        "schedule.declare by deploy: version 1.0",
      ])
    })

    it("that have not changed are left alone, so occurrences missed during a deploy are made up for", async () => {
      const { deploy, schedule, ran, clock, audited } = await stage()
      const first = await deploy([schedule("nightly", { misfire: "all" })])
      await first.clock.advance("10m")
      const before = await first.schedules.get("nightly")
      await first.stop()
      await clock.set("2026-03-02T09:35Z")
      const second = await deploy([schedule("nightly", { misfire: "all" })], { version: "2.0" })
      await second.drain()
      expect(ran).toEqual(["09:10", "09:20", "09:30"])
      const after = await second.schedules.get("nightly")
      expect(after).toMatchObject({ version: 1, changedAt: before?.changedAt, declared: { version: "2.0" } })
      expect(told(second)).toEqual([])
      expect(await audited()).toHaveLength(1)
    })

    it("that have changed are edited, and the changes are reported field by field, without the inputs", async () => {
      const { deploy, schedule, ran, clock, audited } = await stage()
      await deploy([schedule("nightly", { input: "old " })])
      await clock.set("2026-03-02T09:31Z")
      const changed = { cron: "45 * * * *", input: "new ", priority: 3 } as never
      const app = await deploy([schedule("nightly", changed)], { version: "2.0" })
      expect(app.events.find(({ type }) => type === "schedule.changed")).toMatchObject({
        name: "nightly",
        changes: [
          { field: "spec.cron", before: "*/10 * * * *", after: "45 * * * *" },
          { field: "settings.priority", before: null, after: 3 },
          { field: "input", before: "(not shown)", after: "(not shown)" },
        ],
      })
      await app.clock.advance("1h")
      expect(ran).toEqual(["old 09:30", "new 09:45"])
      expect(await app.schedules.get("nightly")).toMatchObject({ version: 2 })
      expect((await audited()).at(-1)).toBe("schedule.change by deploy: version 2.0")
    })

    it("that are gone from the code retire, and keep their cursor and their history", async () => {
      const { deploy, schedule, ran, audited } = await stage()
      const first = await deploy([schedule("nightly"), schedule("hourly")])
      await first.clock.advance("10m")
      const { id } = (await first.schedules.get("nightly")) ?? {}
      const second = await deploy([schedule("hourly")])
      expect(told(second)).toEqual(["schedule.removed nightly"])
      await second.clock.advance("20m")
      expect(ran.sort()).toEqual(["09:10", "09:10", "09:20", "09:30"])
      expect(await second.schedules.get("nightly")).toMatchObject({
        id,
        state: "retired",
        fired: 1,
        cause: { actor: "deploy", was: "active" },
      })
      expect(await brief(second, "nightly")).toEqual(["09:10 fired 1"])
      expect((await audited()).at(-1)).toBe("schedule.retire by deploy: declared at start")
      const third = await deploy([schedule("hourly")])
      expect(told(third)).toEqual([])
    })

    it("that come back go on from now: the occurrences in between are skipped, not made up for", async () => {
      const { deploy, schedule, ran, clock } = await stage()
      const first = await deploy([schedule("nightly", { misfire: "all" })])
      await first.clock.advance("10m")
      await (await deploy([])).clock.advance("30m")
      await clock.set("2026-03-02T09:55Z")
      const back = await deploy([schedule("nightly", { misfire: "all" })])
      expect(told(back)).toEqual(["schedule.revived nightly"])
      await back.clock.advance("10m")
      expect(ran).toEqual(["09:10", "10:00"])
      expect(await brief(back, "nightly")).toEqual([
        "10:00 fired 1",
        "09:20 skipped retired 4",
        "09:10 fired 1",
      ])
      expect(await back.schedules.get("nightly")).not.toHaveProperty("cause")
    })

    it("that come back changed go on as declared now, and one that was over stays over", async () => {
      const { deploy, schedule, ran } = await stage()
      const once = schedule("once", { maxRuns: 1 } as never)
      const first = await deploy([schedule("nightly"), once])
      await first.clock.advance("10m")
      expect(await states(first)).toEqual({ nightly: "active", once: "completed" })
      expect(await states(await deploy([]))).toEqual({ nightly: "retired", once: "retired" })
      const back = await deploy([schedule("nightly", { cron: "15 * * * *" } as never), once])
      expect(await states(back)).toEqual({ nightly: "active", once: "completed" })
      expect(back.events.find(({ type }) => type === "schedule.revived")).toMatchObject({
        changes: [{ field: "spec.cron", before: "*/10 * * * *", after: "15 * * * *" }],
      })
      await back.clock.advance("10m")
      expect(ran).toEqual(["09:10", "09:10", "09:15"])
    })

    it("are deleted instead when the options say so, earlier retired ones as well", async () => {
      const { deploy, schedule, audited } = await stage()
      await deploy([schedule("a"), schedule("b"), schedule("c")])
      await deploy([schedule("b"), schedule("c")])
      const app = await deploy([schedule("c")], { removedSchedules: "delete" })
      expect(await states(app)).toEqual({ c: "active" })
      expect(told(app)).toEqual(["schedule.removed a", "schedule.removed b"])
      expect((await audited()).filter((line) => line.startsWith("schedule.delete"))).toHaveLength(2)
    })

    it.each(["allow", "queue"] as const)(
      "release the runs that a pause held when a deploy deletes them: overlap %s",
      async (overlap) => {
        const { deploy, schedule, ran } = await stage()
        const first = await deploy([schedule("nightly", { overlap })])
        await first.schedules.runNow("nightly", by)
        await first.schedules.pause("nightly", { ...by, hold: true })
        await first.drain()
        expect(ran).toEqual([])
        const second = await deploy([], { removedSchedules: "delete" })
        await second.drain()
        expect(ran).toEqual(["by hand"])
      },
    )

    it("are not touched by a process that does not speak of schedules", async () => {
      const { deploy, schedule } = await stage()
      await deploy([schedule("nightly")])
      const app = await deploy(undefined)
      expect(told(app)).toEqual([])
      expect(await states(app)).toEqual({ nightly: "active" })
    })

    it("do not change schedules that were created by a call, and warn of a name that such a one has", async () => {
      const { deploy, schedule, job } = await stage()
      const empty = await deploy([])
      await empty.schedules.create({ name: "nightly", job, every: "1h" })
      await empty.schedules.create({ name: "other", job, every: "1h" })
      const app = await deploy([schedule("nightly"), schedule("fine")])
      expect(told(app)).toEqual(["schedule.taken nightly", "schedule.declared fine"])
      expect(await app.schedules.get("nightly")).toMatchObject({ spec: { every: "1h" }, version: 1 })
      expect(await states(await deploy([]))).toEqual({ fine: "retired", nightly: "active", other: "active" })
    })

    it("of an older version change nothing that a newer one has declared, added or removed", async () => {
      const { deploy, schedule } = await stage()
      const old = [schedule("kept"), schedule("dropped")]
      await deploy(old, { version: "1.9" })
      const newer = [schedule("kept", { priority: 1 }), schedule("added")]
      await deploy(newer, { version: "1.10" })
      const after = { added: "active", dropped: "retired", kept: "active" }
      const restarted = await deploy(old, { version: "1.9" })
      expect(await states(restarted)).toEqual(after)
      expect(restarted.events.filter(({ type }) => type.startsWith("schedule"))).toEqual([
        { type: "schedules.outdated", application: "", declared: "1.9", stored: "1.10" },
      ])
      const unversioned = await deploy(old)
      expect(await states(unversioned)).toEqual(after)
      expect(told(unversioned)).toEqual(["schedules.outdated"])
      expect(told(await deploy(newer, { version: "1.10" }))).toEqual([])
      // It declares the same, so there is nothing to report.
      const same = await deploy(newer, { version: "1.9" })
      expect(told(same)).toEqual([])
      expect(await same.schedules.get("kept")).toMatchObject({
        settings: { priority: 1 },
        declared: { version: "1.10" },
      })
    })

    it("that a newer version has deleted are not created again by an older one", async () => {
      const { deploy, schedule } = await stage()
      await deploy([schedule("nightly")], { version: "1" })
      await deploy([], { version: "2", removedSchedules: "delete" })
      expect(await states(await deploy([schedule("nightly")], { version: "1" }))).toEqual({})
      expect(await states(await deploy([schedule("nightly")], { version: "3" }))).toEqual({
        nightly: "active",
      })
    })

    it("of applications with different names do not affect each other", async () => {
      const { deploy, schedule } = await stage()
      const shop = { application: "shop", version: "9" }
      await deploy([schedule("nightly"), schedule("shop only")], shop)
      const mail = await deploy([schedule("nightly"), schedule("mail only")], {
        application: "mail",
        version: "1",
      })
      expect(told(mail)).toEqual(["schedule.taken nightly", "schedule.declared mail only"])
      expect(mail.events.find(({ type }) => type === "schedule.taken")).toMatchObject({ by: "shop" })
      const again = await deploy([schedule("nightly"), schedule("shop only")], shop)
      expect(told(again)).toEqual([])
      expect(await states(again)).toEqual({ "mail only": "active", nightly: "active", "shop only": "active" })
      expect(await again.schedules.get("mail only")).toMatchObject({
        declared: { application: "mail", version: "1" },
      })
    })

    it("stay paused, skipped and cancelled over a start, and paused also after an absence", async () => {
      const { deploy, schedule } = await stage()
      const all = [schedule("paused"), schedule("skipped"), schedule("ended")]
      const first = await deploy(all)
      await first.schedules.pause("paused", { ...by, until: new Date("2026-03-03T09:00Z") })
      await first.schedules.skipNext("skipped", by)
      await first.schedules.cancel("ended", by)
      const second = await deploy(all)
      expect(told(second)).toEqual([])
      expect(await second.schedules.get("skipped")).toMatchObject({
        next: { occurrence: new Date("2026-03-02T09:20Z") },
      })
      expect(await states(second)).toEqual({ ended: "cancelled", paused: "paused", skipped: "active" })
      await deploy([])
      const back = await deploy(all)
      expect(await states(back)).toEqual({ ended: "cancelled", paused: "paused", skipped: "active" })
      expect(await back.schedules.get("paused")).toMatchObject({
        cause: by,
        resumeAt: new Date("2026-03-03T09:00Z"),
      })
      const edited = await deploy(all.with(0, schedule("paused", { priority: 1 })))
      expect(await edited.schedules.get("paused")).toMatchObject({
        state: "paused",
        settings: { priority: 1 },
      })
    })

    it("with a skipped next occurrence follow new times after a deploy, and skip it by those as well", async () => {
      const { deploy, schedule, ran, clock } = await stage()
      const hourly = (name: string) => schedule(name, { cron: "0 * * * *" } as never)
      const first = await deploy([hourly("changed"), hourly("gone")])
      for (const name of ["changed", "gone"]) await first.schedules.skipNext(name, by)
      await deploy([schedule("changed", { input: "changed " })])
      await clock.set("2026-03-02T09:35Z")
      const app = await deploy([
        schedule("changed", { input: "changed " }),
        schedule("gone", { input: "gone " }),
      ])
      await app.clock.advance("40m")
      expect(ran.toSorted()).toEqual([
        "changed 09:30",
        "changed 09:40",
        "changed 09:50",
        "changed 10:10",
        "gone 09:40",
        "gone 09:50",
        "gone 10:10",
      ])
      expect(await brief(app, "gone")).toEqual([
        "10:10 fired 1",
        "10:00 skipped request 1",
        "09:50 fired 1",
        "09:40 fired 1",
      ])
      expect(await app.schedules.get("changed")).toMatchObject({ fired: 4 })
    })

    it("belong to the code: a put is refused, and so is the return of a retired one", async () => {
      const { deploy, schedule, job } = await stage()
      const app = await deploy([schedule("nightly")])
      const other = { name: "nightly", job, every: "1h" } as const
      await expect(app.schedules.put(other)).rejects.toMatchObject({
        code: "SCHEDULE_DECLARED",
        message: expect.stringContaining("`schedules` of `createCarillon`"),
      })
      await expect(app.schedules.create(other)).rejects.toMatchObject({ code: "SCHEDULE_EXISTS" })
      expect(await app.schedules.runNow("nightly", by)).toHaveProperty("run")
      const without = await deploy([])
      await expect(without.schedules.resume("nightly", by)).rejects.toMatchObject({
        code: "SCHEDULE_STATE",
        message: expect.stringContaining("declare it again"),
      })
      await expect(without.schedules.put(other)).rejects.toThrow("It is retired: delete it first")
      expect(await without.schedules.delete("nightly", by)).toBe(true)
      expect((await without.schedules.put(other)).outcome).toBe("created")
    })
  },
  ["PostgreSQL 18", "PGlite"],
)
