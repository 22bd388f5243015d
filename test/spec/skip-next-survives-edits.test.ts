/** What happens to an occurrence skipped by `skipNext` when the times of its schedule are edited before it comes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type ScheduleOptions } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const at = (time: string) => new Date(`2026-03-02T${time}Z`)
const hhmm = (instant: Date) => instant.toISOString().slice(11, 16)

describe.each(["memory", "postgres18"] as const)(
  "a schedule with a skipped next occurrence, on %s",
  (where) => {
    let kit: WatchedKit
    beforeAll(async () => {
      kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
    })
    afterAll(() => kit.close())

    /** Nine o'clock, and an hourly schedule that skips ten. */
    async function stage({ fails = false, ...more }: Readonly<Record<string, unknown>> = {}) {
      const ran: string[] = []
      const missed: number[] = []
      const job = defineJob({
        name: "work",
        retry: { attempts: 3, delay: "2h" },
        run: async (_: undefined, ctx) => {
          ran.push(ctx.occurrence ? hhmm(ctx.occurrence) : "by hand")
          missed.push(ctx.missed?.count ?? 0)
          if (fails) throw new Error("not yet")
        },
      })
      const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z" })
      const hourly = (over: object = {}) =>
        ({ name: "it", cron: "0 * * * *", job, ...more, ...over }) as ScheduleOptions<undefined>
      const put = (over: object) => app.schedules.put(hourly(over), by)
      const skip = () => app.schedules.skipNext("it", by)
      const ledger = async () =>
        (await app.schedules.fires("it")).fires.map(({ occurrence, outcome, reason, count }) =>
          [hhmm(occurrence), outcome, reason, count].filter((part) => part !== undefined).join(" "),
        )
      const planned = async (limit: number) =>
        (await app.schedules.planned("it", { limit })).map(({ occurrence }) => hhmm(occurrence))
      await app.schedules.create(hourly())
      expect(await skip()).toEqual(at("10:00"))
      return { app, job, ran, missed, put, skip, ledger, planned }
    }

    it("follows the new times after an edit, and skips that occurrence by those as well", async () => {
      const { app, ran, put, ledger, planned } = await stage()
      const { schedule } = await put({ cron: "*/20 * * * *" })
      expect(schedule.next).toEqual({ occurrence: at("09:20"), due: at("09:20") })
      expect(await planned(4)).toEqual(["09:20", "09:40", "10:20", "10:40"])
      await app.clock.advance("90m")
      expect(ran).toEqual(["09:20", "09:40", "10:20"])
      expect(await ledger()).toEqual([
        "10:20 fired 1",
        "10:00 skipped request 1",
        "09:40 fired 1",
        "09:20 fired 1",
      ])
      expect(await app.schedules.get("it")).toMatchObject({ fired: 3, next: { occurrence: at("10:40") } })
      await app.close()
    })

    it("skips several occurrences, of old times and of new ones", async () => {
      const { app, ran, put, skip, ledger } = await stage()
      expect(await skip()).toEqual(at("11:00"))
      await put({ cron: "*/30 * * * *" })
      expect(await skip()).toEqual(at("09:30"))
      expect(await skip()).toEqual(at("10:30"))
      await put({ cron: "*/15 * * * *" })
      await app.clock.advance("130m")
      expect(ran).toEqual(["09:15", "09:45", "10:15", "10:45"])
      expect((await ledger()).filter((line) => line.includes("skipped"))).toEqual([
        "11:00 skipped request 1",
        "10:30 skipped request 1",
        "10:00 skipped request 1",
        "09:30 skipped request 1",
      ])
      await app.close()
    })

    it("skips it when the old times come back, and through edits of anything else", async () => {
      const { app, ran, put } = await stage()
      await put({ cron: "*/20 * * * *" })
      await put({ cron: "0 * * * *" })
      expect((await put({ cron: "0 * * * *", priority: 3 })).schedule).toMatchObject({
        version: 4,
        next: { occurrence: at("11:00") },
      })
      await app.clock.advance("125m")
      expect(ran).toEqual(["11:00"])
      await app.close()
    })

    it("makes as many runs as it may have, whatever it skips between them", async () => {
      const { app, ran, put, planned } = await stage()
      await put({ cron: "*/20 * * * *", maxRuns: 3 })
      expect(await planned(10)).toEqual(["09:20", "09:40", "10:20"])
      await app.clock.advance("3h")
      expect(ran).toEqual(["09:20", "09:40", "10:20"])
      expect(await app.schedules.get("it")).toMatchObject({ state: "completed", fired: 3 })
      await app.close()
    })

    it.each([
      ["latest", ["09:50"], [4]],
      ["all", ["09:10", "09:20", "09:30", "09:40", "09:50"], [0, 0, 0, 0, 0]],
    ])(
      "makes up for missed occurrences as misfire %s says, and not for skipped ones",
      async (misfire, runs, counts) => {
        const { app, ran, missed, put } = await stage({ misfire })
        await put({ cron: "*/10 * * * *" })
        await app.clock.set("2026-03-02T10:05Z")
        await app.clock.advance("1m")
        expect(ran).toEqual(runs)
        expect(missed).toEqual(counts)
        expect(await app.schedules.get("it")).toMatchObject({
          fired: runs.length,
          next: { occurrence: at("10:10") },
        })
        await app.close()
      },
    )

    it("that is edited in a pause counts as paused only what it would have decided", async () => {
      const { app, ran, put, ledger } = await stage()
      await app.schedules.pause("it", by)
      await put({ cron: "*/20 * * * *" })
      await app.clock.set("2026-03-02T10:30Z")
      await app.schedules.resume("it", by)
      await app.clock.advance("15m")
      expect(ran).toEqual(["10:40"])
      expect(await ledger()).toEqual(["10:40 fired 1", "10:00 skipped request 1", "09:20 skipped paused 3"])
      expect(await app.schedules.get("it")).toMatchObject({ fired: 1 })
      await app.close()
    })

    it("that paused itself after failures makes up for nothing of the pause by its new times", async () => {
      const { app, ran, put, ledger } = await stage({
        fails: true,
        pauseAfterFailures: 1,
        retry: { attempts: 1 },
      })
      await app.schedules.runNow("it", by)
      await app.clock.advance("1m")
      expect(await app.schedules.get("it")).toMatchObject({ state: "paused" })
      await put({ cron: "*/20 * * * *" })
      await app.clock.set("2026-03-02T09:50Z")
      await app.schedules.resume("it", by)
      await app.clock.advance("1m")
      expect(ran).toEqual(["by hand"])
      expect(await ledger()).toEqual(["10:00 skipped request 1", "09:20 skipped paused 2", "09:00 fired 1"])
      await app.close()
    })

    it("makes up for a pause without the skipped occurrence, if the resume says so", async () => {
      const { app, ran, put } = await stage({ overlap: "queue" })
      await app.schedules.pause("it", by)
      await put({ cron: "*/20 * * * *" })
      await app.clock.set("2026-03-02T10:30Z")
      await app.schedules.resume("it", { ...by, misfire: "all" })
      await app.clock.advance("1m")
      expect(ran).toEqual(["09:20", "09:40", "10:20"])
      expect(await app.schedules.get("it")).toMatchObject({ fired: 3 })
      await app.close()
    })

    it("with a single occurrence fires at another, earlier time", async () => {
      const { app, ran, job } = await stage()
      const once = (time: string) => ({ name: "once", job, at: at(time) })
      await app.schedules.create(once("12:00"))
      await app.schedules.skipNext("once", by)
      expect(await app.schedules.get("once")).toMatchObject({ state: "completed" })
      expect((await app.schedules.put(once("09:30"), by)).schedule).toMatchObject({ state: "active" })
      await app.clock.advance("40m")
      expect(ran).toEqual(["09:30"])
      await app.close()
    })

    it("that counted from the end of its runs follows a clock after the edit", async () => {
      const { app, ran, job } = await stage()
      await app.schedules.create({ name: "after", job, afterCompletion: "3h" })
      await app.schedules.skipNext("after", by)
      await app.schedules.put({ name: "after", job, every: "30m" }, by)
      await app.clock.advance("35m")
      expect(ran).toEqual(["09:30"])
      await app.close()
    })

    it("decides nothing twice by an edit after the clock was set back", async () => {
      const { app, ran, put, skip, ledger } = await stage({ overlap: "allow" })
      await app.clock.advance("2h")
      await app.clock.set("2026-03-02T10:15Z")
      expect(await skip()).toEqual(at("12:00"))
      await put({ cron: "*/30 * * * *" })
      await app.clock.advance("2h")
      expect(ran).toEqual(["11:00", "11:30"])
      expect(await ledger()).toEqual([
        "12:00 skipped request 1",
        "11:30 fired 1",
        "11:00 fired 1",
        "10:00 skipped request 1",
      ])
      expect(await app.schedules.get("it")).toMatchObject({ fired: 2 })
      await app.close()
    })

    it("does not end the run that the skipped occurrence would have replaced", async () => {
      const { app, ran, put } = await stage({ overlap: "replace", fails: true })
      await put({ cron: "*/20 * * * *" })
      await app.clock.advance("70m")
      expect(ran).toEqual(["09:20", "09:40"])
      expect((await app.schedules.fires("it")).fires).toMatchObject([
        { occurrence: at("10:00"), reason: "request" },
        { occurrence: at("09:40"), state: "waiting" },
        { occurrence: at("09:20"), state: "cancelled" },
      ])
      await app.clock.advance("10m")
      expect(ran).toEqual(["09:20", "09:40", "10:20"])
      await app.close()
    })

    it("lets a backfill run the skipped occurrence, and goes on as before", async () => {
      const { app, ran, put, ledger } = await stage()
      await put({ cron: "*/20 * * * *" })
      await app.clock.advance("70m")
      const { runs } = await app.schedules.backfill("it", { ...by, from: at("09:10"), to: at("10:10") })
      expect(runs).toBe(1)
      await app.clock.advance("15m")
      expect(ran).toEqual(["09:20", "09:40", "10:00", "10:20"])
      expect(await ledger()).toContain("10:00 skipped request 1")
      expect(await app.schedules.get("it")).toMatchObject({ fired: 3 })
      await app.close()
    })
  },
)
