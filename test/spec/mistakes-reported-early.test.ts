/** Mistakes that would show a minute or a month later are reported at once. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, defineSchedule, type OptionsError } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { carillonOn, createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }
const send = defineJob({ name: "email.send", pool: "mail", run: async () => {} })

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

describe("a pause of a job", () => {
  it("that no process knows is refused, with a suggestion", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    await app.tick()
    await expect(app.jobs.pause("email.sned", by)).rejects.toMatchObject({
      code: "JOB_UNKNOWN",
      message: 'There is no job named "email.sned". Did you mean "email.send"?',
    })
    await expect(app.jobs.pause("something.else", by)).rejects.toMatchObject({ code: "JOB_UNKNOWN" })
    expect(await app.pauses.list()).toEqual([])
  })

  it("that another process has declared, or that is in history, is accepted", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    await app.tick()
    const other = await kit.beside(app, { jobs: [] })
    expect(await other.jobs.pause("email.send", by)).toBe(true)
    await other.close()
  })
})

describe("a run in a pool that no live worker serves", () => {
  it("is reported at once, with a suggestion, and only once", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    await app.enqueue(send, undefined, { pool: "mial" })
    await app.enqueue(send, undefined, { pool: "mial" })
    const told = await app.until("pool.unserved")
    expect(told).toEqual({ type: "pool.unserved", pool: "mial", job: "email.send", meant: "mail" })
    expect(app.database.count("workers/live-pools")).toBe(1)
  })

  it("is not checked for a pool of this process, and not reported for one that another worker serves", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    await app.enqueue(send)
    expect(app.database.count("workers/live-pools")).toBe(0)
    const other = await kit.beside(app, { jobs: [send], pools: { default: 1 } })
    await other.enqueue(send)
    await other.enqueue(send)
    expect(other.database.count("workers/live-pools")).toBe(1)
    await other.tick()
    expect(other.events.filter(({ type }) => type === "pool.unserved")).toEqual([])
    await other.close()
  })

  it("is reported by a process that only enqueues", async () => {
    const { carillon } = carillonOn(SERVER_URLS.postgres18, {})
    const told = new Promise((resolve) => {
      carillon.subscribe((event) => void (event.type === "pool.unserved" && resolve(event.pool)))
    })
    await carillon.enqueue(send)
    expect(await told).toBe("mail")
    await carillon.stop()
  })
})

describe("a schedule", () => {
  const warned = (app: { readonly events: readonly { readonly type: string }[] }) =>
    app.events
      .flatMap((event) =>
        event.type === "schedule.warned" ? [event as unknown as { warnings: { code: string }[] }] : [],
      )
      .map(({ warnings }) => warnings.map(({ code }) => code).join())

  it("whose runs expire at once is reported when it is created or changed, and not otherwise", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    const options = { name: "s", job: send, every: "10m", misfire: "all" } as const
    await app.schedules.put(options)
    expect(warned(app)).toEqual([])
    await app.schedules.put({ ...options, startWithin: "5m" })
    await app.schedules.put({ ...options, startWithin: "5m" })
    expect(warned(app)).toEqual(["expires-at-once"])
    await app.schedules.put({ ...options, startWithin: "5m", misfire: { mode: "all", within: "5m" } })
    expect(warned(app)).toHaveLength(1)
    const { version } = (await app.schedules.get("s")) ?? { version: 0 }
    await app.schedules.patch("s", { misfire: "all" }, { version, ...by })
    expect(warned(app)).toEqual(["expires-at-once", "expires-at-once"])
  })

  it("that skips months is reported when the code declares it, and not again at the next start", async () => {
    const schedules = [defineSchedule({ name: "monthly", job: send, cron: "0 6 31 * *" })]
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 }, schedules })
    await app.tick()
    expect(warned(app)).toEqual(["months-passed-over"])
    await app.restart()
    await app.tick()
    expect(warned(app)).toHaveLength(1)
  })

  it("reports all its faults at once: its expression, its zone and its options", async () => {
    await using app = await kit.app({ jobs: [send], pools: { mail: 1 } })
    const wrong = {
      name: "s",
      job: send,
      cron: "0 25 * * *",
      timeZone: "Mars/Olympus",
      maxQueued: 0,
    } as const
    const error = await app.schedules.create(wrong).catch((thrown: unknown) => thrown)
    expect((error as OptionsError).faults.map(({ path }) => path).sort()).toEqual([
      "cron",
      "maxQueued",
      "timeZone",
    ])
  })
})
