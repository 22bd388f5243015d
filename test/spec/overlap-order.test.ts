/**
 * Runs of schedules that wait for each other start in the order of their occurrences, whatever parked them meanwhile.
 */
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Duration, defineJob } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const WORK = "work"
const POOL = "narrow"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

/** A job whose runs report the occurrence for which they began. */
function working() {
  const began: string[] = []
  const job = defineJob({
    name: "work",
    pool: "narrow",
    run: async (_: undefined, ctx) =>
      void began.push(ctx.occurrence?.toISOString().slice(11, 16) ?? "by hand"),
  })
  return { began, job }
}

const LINE = { name: "s", every: "10m", overlap: "queue", misfire: "all" } as const
const TIMES = ["09:10", "09:20", "09:30", "09:40", "09:50", "10:00", "10:10"]

describe("missed occurrences are made up for from the oldest on", () => {
  async function missed(lease: Duration = "1d") {
    const { began, job } = working()
    const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease, pools: { narrow: 5 } })
    await app.schedules.create({ ...LINE, job })
    return { app, began }
  }

  it.each([
    { what: "its job", noun: "jobs" as const, name: WORK },
    { what: "its pool", noun: "pools" as const, name: POOL },
  ])("after a pause of $what, in which runs became ready one after the other", async ({ noun, name }) => {
    const { app, began } = await missed()
    await app[noun].pause(name, by)
    await app.clock.set("2026-03-02T10:10Z")
    for (let ticks = 0; ticks < 3; ticks += 1) await app.tick()
    expect(began).toEqual([])
    await app[noun].resume(name, by)
    await app.drain()
    expect(began).toEqual(TIMES)
    await app.close()
  })

  it("after a time without a worker for the job", async () => {
    const { app, began } = await missed("2m")
    const idle = defineJob({ name: "idle", run: async () => {} })
    const other = await kit.beside(app, { jobs: [idle], lease: "1d" })
    await app.stop()
    for (let minutes = 10; minutes < 18; minutes += 2) {
      await app.clock.set(`2026-03-02T10:${minutes}Z`)
      await other.tick()
    }
    await app.restart()
    await app.drain()
    expect(began.slice(0, TIMES.length)).toEqual(TIMES)
    await other.close()
    await app.close()
  })

  it("after a pause of the schedule that holds its waiting runs", async () => {
    const { app, began } = await missed()
    await app.jobs.pause(WORK, by)
    await app.clock.set("2026-03-02T10:10Z")
    await app.tick()
    await app.schedules.pause("s", { ...by, hold: true })
    for (let ticks = 0; ticks < 5; ticks += 1) await app.tick()
    await app.jobs.resume(WORK, by)
    await app.drain()
    expect(began).toEqual([])
    await app.schedules.resume("s", by)
    await app.drain()
    expect(began).toEqual(TIMES)
    await app.close()
  })
})

describe("in any order of pauses, resumes and ticks", () => {
  const STEPS = {
    tick: (app: WatchedApp) => app.tick(),
    pauseJob: (app: WatchedApp) => app.jobs.pause(WORK, by),
    resumeJob: (app: WatchedApp) => app.jobs.resume(WORK, by),
    pausePool: (app: WatchedApp) => app.pools.pause(POOL, by),
    resumePool: (app: WatchedApp) => app.pools.resume(POOL, by),
    hold: (app: WatchedApp) => app.schedules.pause("s", { ...by, hold: true }),
    goOn: (app: WatchedApp) => app.schedules.resume("s", { ...by, misfire: "all" }),
    die: (app: WatchedApp) => app.stealLease().then(() => app.restart()),
  } as const
  const steps = fc.array(
    fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[]), "pass", "pass", "tick"),
    {
      minLength: 5,
      maxLength: 30,
    },
  )

  it("start all runs in the order of their occurrences", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const { began, job } = working()
        const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d", pools: { narrow: 2 } })
        await app.schedules.create({ ...LINE, job })
        let minutes = 0
        for (const step of taken) {
          if (step === "pass") {
            minutes += 10
            await app.clock.set(new Date(Date.parse("2026-03-02T09:00Z") + minutes * 60_000).toISOString())
          } else await STEPS[step as keyof typeof STEPS](app)
        }
        await app.jobs.resume(WORK, by)
        await app.pools.resume(POOL, by)
        await app.schedules.resume("s", { ...by, misfire: "all" })
        await app.drain()
        expect(began).toEqual([...began].sort())
        expect(new Set(began).size).toBe(minutes / 10)
        await app.close()
      }),
      { numRuns: 12 },
    )
  }, 120_000)
})
