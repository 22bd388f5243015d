/** Occurrences that come due while a run of their schedule is not finished, and take the place of another. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type ScheduleOptions } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const at = (time: string) => new Date(`2026-03-02T${time}Z`)

describe.each(["memory", "postgres18"] as const)("an early occurrence, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  /** `obeys`: its handler ends when it is told to. `fails`: its handler fails at once. */
  async function stage({ obeys = true, fails = false, slots = 5, overrun = "hold" as "hold" | "free" } = {}) {
    const gate = createGate()
    const said: string[] = []
    const job = defineJob({
      name: "work",
      overrun,
      retry: { attempts: 5, delay: "1h" },
      run: async (_: undefined, ctx) => {
        const mine = ctx.occurrence?.toISOString().slice(11, 16) ?? "by hand"
        said.push(`${mine} began`)
        if (fails) throw new Error("not yet")
        await Promise.race([
          gate.opened,
          new Promise<void>((resolve) => {
            ctx.signal.addEventListener("abort", () => {
              said.push(`${mine} was told`)
              if (obeys) resolve()
            })
          }),
        ])
      },
    })
    const app = await kit.app({
      jobs: [job],
      at: "2026-03-02T09:00Z",
      pools: { default: slots },
      lease: "1d",
    })
    const create = (more: Partial<ScheduleOptions<undefined>>) =>
      app.schedules.create({ name: "s", cron: "*/10 * * * *", job, ...more } as ScheduleOptions<undefined>)
    const now = async (time: string) => {
      await app.clock.set(`2026-03-02T${time}Z`)
      await app.tick()
      await app.tick()
    }
    const fires = async () =>
      [...(await app.schedules.fires("s")).fires].reverse().map((fire) => {
        const into = fire.into ? `into ${fire.into.toISOString().slice(11, 16)}` : undefined
        const { outcome, reason, state } = fire
        const parts = [fire.occurrence.toISOString().slice(11, 16), outcome, reason, into, state]
        return parts.filter((part) => part !== undefined).join(" ")
      })
    const end = async () => {
      gate.open()
      await app.drain()
      await app.close()
    }
    return { app, job, said, create, now, fires, end }
  }

  it("collapses with a waiting run: the newest is what runs when the first has finished", async () => {
    const { app, said, create, now, fires, end } = await stage()
    await create({ overlap: "collapse" })
    await now("09:10")
    await now("09:20")
    await now("09:30")
    expect(said).toEqual(["09:10 began"])
    expect(await fires()).toEqual([
      "09:10 fired running",
      "09:20 coalesced overlap into 09:30 cancelled",
      "09:30 fired parked",
    ])
    const [, collapsed] = [...(await app.schedules.fires("s")).fires].reverse()
    expect(await app.runs.wait(collapsed?.run ?? "")).toMatchObject({ state: "cancelled" })
    await end()
    expect(said).toEqual(["09:10 began", "09:30 began"])
  })

  it("collapses with a run that has not started yet, also when there is no slot for it", async () => {
    const { create, now, fires, said, app } = await stage({ slots: 1 })
    const other = defineJob({ name: "other", run: async () => {} })
    await create({ overlap: "collapse" })
    await app.enqueue(other)
    await app.jobs.pause("work", by)
    await now("09:10")
    await now("09:20")
    await app.jobs.resume("work", by)
    await now("09:21")
    expect(said).toEqual(["09:20 began"])
    expect(await fires()).toEqual(["09:10 coalesced overlap into 09:20 cancelled", "09:20 fired running"])
    await app.close()
  })

  it("replaces a running run: that one is told to end, and the new one starts after it", async () => {
    const { app, said, create, now, fires, end } = await stage()
    await create({ overlap: "replace" })
    await now("09:10")
    await now("09:20")
    await app.until("attempt.finished")
    await app.tick()
    await app.tick()
    expect(said).toEqual(["09:10 began", "09:10 was told", "09:20 began"])
    expect(await fires()).toEqual(["09:10 fired cancelled", "09:20 fired running"])
    await end()
  })

  it("waits for a run that does not end in time, so that two handlers never run at once", async () => {
    const { said, create, now, fires, end } = await stage({ obeys: false })
    await create({ overlap: "replace", replaceGrace: "1m" })
    await now("09:10")
    await now("09:20")
    await now("09:22")
    expect(said).toEqual(["09:10 began", "09:10 was told"])
    expect(await fires()).toEqual(["09:10 fired running", "09:20 fired parked"])
    await end()
    expect(said).toEqual(["09:10 began", "09:10 was told", "09:20 began"])
  })

  it("is not looked for again and again by schedulers while the old run overstays", async () => {
    const { app, create, now, end } = await stage({ obeys: false })
    await create({ overlap: "replace", replaceGrace: "1m" })
    await now("09:10")
    await now("09:20")
    await now("09:22")
    const looks = () => ["runs/end-overdue", "schedules/due"].map((name) => app.database.count(name))
    const before = looks()
    await now("09:23")
    expect(looks()).toEqual(before)
    await end()
  })

  it("replaces a run that overstays, where its place is free then: the late result is refused", async () => {
    const { app, said, create, now, fires, end } = await stage({ obeys: false, overrun: "free" })
    await create({ overlap: "replace", replaceGrace: "1m" })
    await now("09:10")
    await now("09:20")
    expect(await fires()).toEqual(["09:10 fired running", "09:20 fired parked"])
    await now("09:21")
    expect(said).toEqual(["09:10 began", "09:10 was told", "09:20 began"])
    expect(await fires()).toEqual(["09:10 fired cancelled", "09:20 fired running"])
    const second = (await app.schedules.fires("s")).fires[0]?.run
    await end()
    // The worker and the scheduler both end the run at its time: the later of the two is refused.
    const ends = app.events.filter(
      (event) =>
        event.type === "attempt.fenced" ||
        (event.type === "attempt.finished" && event.outcome === "cancelled"),
    )
    expect(ends).toHaveLength(1)
    const succeeded = app.events.filter(
      (event) => event.type === "attempt.finished" && event.runState === "succeeded",
    )
    expect(succeeded.map((event) => "run" in event && event.run)).toEqual([second])
  })

  it("supersedes a run that waits behind the one being replaced", async () => {
    const { create, now, fires, end } = await stage({ obeys: false })
    await create({ overlap: "replace", replaceGrace: "1h" })
    await now("09:10")
    await now("09:20")
    await now("09:30")
    expect(await fires()).toEqual([
      "09:10 fired running",
      "09:20 superseded overlap into 09:30 cancelled",
      "09:30 fired parked",
    ])
    await end()
  })

  it.each([
    ["skip", "09:10 began", ["09:10 fired waiting", "09:20 skipped overlap"]],
    ["collapse", "09:10 began", ["09:10 fired waiting", "09:20 fired parked"]],
  ] as const)("finds a run in its way that waits for its retry (%s)", async (overlap, last, expected) => {
    const { said, create, now, fires, app } = await stage({ fails: true })
    await create({ overlap })
    await now("09:10")
    await app.drain()
    await now("09:20")
    expect(said.at(-1)).toBe(last)
    expect(await fires()).toEqual(expected)
    await app.close()
  })

  it.each(["skip", "queue", "collapse", "replace"] as const)(
    "takes the place of a run that waits for its retry, if the options say so (%s)",
    async (overlap) => {
      const { said, create, now, fires, app } = await stage({ fails: true })
      await create(overlap === "replace" ? { overlap } : { overlap, onNewOccurrence: "replace-retry" })
      await now("09:10")
      await app.drain()
      await now("09:20")
      await app.drain()
      expect(said).toEqual(["09:10 began", "09:20 began"])
      expect(await fires()).toEqual(["09:10 fired cancelled", "09:20 fired waiting"])
      await app.close()
    },
  )

  it("makes way for a run by hand, as for another occurrence", async () => {
    const { app, create, now, fires, end } = await stage()
    await create({ overlap: "collapse" })
    await now("09:10")
    await now("09:20")
    const asked = (await app.schedules.runNow("s", by)) as { run: string }
    expect(await fires()).toEqual([
      "09:10 fired running",
      "09:20 fired parked",
      "09:20 coalesced overlap cancelled",
    ])
    expect(await app.runs.get(asked.run)).toMatchObject({ state: "parked" })
    await end()
  })

  it("does not run beside that of another schedule with the same overlap key", async () => {
    const { said, create, now, fires, end } = await stage()
    await create({ overlap: "queue", overlapKey: "k" })
    await create({ name: "t", overlap: "queue", overlapKey: "k", cron: "15 * * * *" })
    await create({ name: "u", overlap: "queue", overlapKey: "other", cron: "15 * * * *" })
    await now("09:10")
    await now("09:15")
    expect(said).toEqual(["09:10 began", "09:15 began"])
    expect(await fires()).toEqual(["09:10 fired running"])
    await end()
    expect(said).toEqual(["09:10 began", "09:15 began", "09:15 began"])
  })

  it.each(["allow", "AllowAll"])(
    "shares no key with others under %s, by whatever name it goes",
    async (overlap) => {
      const { create } = await stage()
      const made = create({ overlap: overlap as "allow", overlapKey: "k" })
      await expect(made).rejects.toThrow(`has no effect with overlap "${overlap}"`)
    },
  )

  describe("while a run is between two attempts", () => {
    const began: string[] = []
    const failing = defineJob({
      name: "failing",
      pool: "failing",
      retry: { attempts: 2, delay: "1h" },
      run: async (_: undefined, ctx) => {
        began.push(`attempt ${ctx.attempt}`)
        throw new Error("not yet")
      },
    })
    const other = defineJob({ name: "other", run: async () => void began.push("other") })

    /** The run of one schedule has failed once, and what it belongs to is paused when the retry is due. */
    async function pausedBetween(noun: "jobs" | "pools") {
      began.length = 0
      const app = await kit.app({ jobs: [failing, other], at: "2026-03-02T09:00Z", lease: "1d" })
      const both = { overlap: "queue", overlapKey: "k" } as const
      await app.schedules.create({ ...both, name: "f", cron: "10 9 2 3 *", job: failing })
      await app.schedules.create({ ...both, name: "o", cron: "15 10 2 3 *", job: other })
      await app.clock.set(at("09:10"))
      await app.drain()
      await app[noun].pause("failing", by)
      await app.clock.set(at("10:10"))
      await app.drain()
      await app.clock.set(at("10:15"))
      await app.drain()
      return app
    }

    it.each([
      { what: "its job", noun: "jobs" as const },
      { what: "its pool", noun: "pools" as const },
    ])("waits for it, also while $what is paused, and goes on at once afterwards", async ({ noun }) => {
      await using app = await pausedBetween(noun)
      expect(began).toEqual(["attempt 1"])
      await app[noun].resume("failing", by)
      await app.drain()
      expect(began).toEqual(["attempt 1", "attempt 2", "other"])
    })

    it("waits for it also in a pause that holds waiting runs: a retry counts as running", async () => {
      await using app = await pausedBetween("jobs")
      await app.schedules.pause("f", { ...by, hold: true })
      await app.drain()
      expect(began).toEqual(["attempt 1"])
      await app.jobs.resume("failing", by)
      await app.drain()
      expect(began).toEqual(["attempt 1", "attempt 2", "other"])
    })
  })

  it("and the runs behind it do not hold up others that have room, however many they are", async () => {
    const ran: string[] = []
    const job = defineJob({
      name: "narrow",
      concurrency: 2,
      retry: { attempts: 5, delay: "1h" },
      run: async (input: string | undefined, ctx) => {
        ran.push(input ?? ctx.occurrence?.toISOString().slice(11, 16) ?? "")
        if (!input) throw new Error("not yet")
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d" })
    const line = { name: "s", job, every: "1m", misfire: "all", overlap: "queue" } as const
    await app.schedules.create(line)
    await app.clock.set("2026-03-02T14:00Z")
    await app.drain()
    await app.enqueue(job, "has room")
    await app.drain()
    expect((await app.schedules.get("s"))?.live).toBe(300)
    expect(ran).toEqual(["09:01", "has room"])
  })

  it("follows the default of its job, or its own option, and reports which of the two", async () => {
    await using app = await kit.app({ at: "2026-03-02T09:00Z" })
    const job = defineJob({ name: "picky", overlap: "collapse", misfire: "skip", run: async () => {} })
    const made = (more: object) => app.schedules.create({ name: "s", every: "10m", job, ...more })
    const policies = async (more: { name: string }) => {
      const { policy } = await made(more)
      return [policy.misfire.mode, policy.overlap, policy.from]
    }
    expect(await policies({ name: "a" })).toEqual(["latest", "collapse", { misfire: "job", overlap: "job" }])
    const own = { name: "b", overlap: "allow" }
    expect(await policies(own)).toEqual(["latest", "allow", { misfire: "job", overlap: "schedule" }])
    // The default of the job does not fit this.
    const all = { name: "c", misfire: "all" }
    expect(await policies(all)).toEqual(["all", "queue", { misfire: "schedule", overlap: "default" }])
  })

  it("of a time that is past does not exist: a schedule makes nothing from before its creation", async () => {
    const { create, now, fires, end } = await stage()
    await create({ overlap: "collapse", startAt: at("08:00") })
    await now("09:09")
    expect(await fires()).toEqual([])
    await end()
  })
})
