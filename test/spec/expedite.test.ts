/** Expediting a run: it becomes due now, or gets another priority. The audit keeps who did it and why. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "the customer called" }
const UNKNOWN_RUN = "01900000-0000-7000-8000-000000000000"

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(() => kit.close())

const auditOf = (app: WatchedApp, id: string) =>
  rowsOf(
    app.database,
    `select actor, action, reason, before, after from {audit} where subject = 'run:${id}' order by at`,
  )

const broken = async () => Promise.reject(new Error("the disk is full"))

describe("expediting", () => {
  const order: string[] = []
  const named = defineJob({ name: "named", run: async (name: string) => void order.push(name) })
  const limited = defineJob({
    name: "limited",
    concurrency: 1,
    run: async (name: string) => void order.push(name),
  })
  let app: WatchedApp
  beforeAll(async () => {
    app = await kit.app({ jobs: [named, limited], pools: { default: 1 }, at: "2026-03-01T09:00Z" })
  })
  afterAll(() => app.close())

  it("a waiting run makes it due now, and returns what it was before", async () => {
    const run = await app.enqueue(named, "later", { delay: "7d" })
    await app.drain()
    expect(await app.runs.expedite(run.id, by)).toBe(true)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "ready", dueAt: new Date("2026-03-01T09:00Z") })
    await app.drain()
    expect(order).toEqual(["later"])
    expect(await auditOf(app, run.id)).toEqual([
      {
        actor: "ada",
        action: "run.expedite",
        reason: "the customer called",
        before: { state: "waiting", priority: 0, due: "2026-03-08T09:00:00.000Z" },
        after: { state: "ready", priority: 0 },
      },
    ])
  })

  it("a run that waits for its retry starts the retry now", async () => {
    const unlucky = defineJob({
      name: "unlucky",
      retry: { attempts: 2, delay: "1d" },
      run: async (_: undefined, { attempt }) => (attempt === 1 ? Promise.reject(new Error("no")) : "done"),
    })
    await using alone = await kit.app({ jobs: [unlucky] })
    const run = await alone.enqueue(unlucky)
    await alone.drain()
    expect(await alone.runs.expedite(run.id, by)).toBe(true)
    await alone.drain()
    expect(await run.result()).toBe("done")
  })

  it("a run of a schedule that waits for its retry in its overlap place starts the retry now", async () => {
    const unlucky = defineJob({
      name: "unlucky",
      retry: { attempts: 2, delay: "1d" },
      run: async (_: undefined, { attempt }) => (attempt === 1 ? Promise.reject(new Error("no")) : "done"),
    })
    await using alone = await kit.app({ jobs: [unlucky], at: "2026-03-01T09:00Z" })
    await alone.schedules.create({ name: "hourly", job: unlucky, every: "1h", overlap: "queue" })
    await alone.clock.advance("1h")
    const [fire] = (await alone.schedules.fires("hourly")).fires
    const id = fire?.run ?? ""
    expect(await alone.runs.get(id)).toMatchObject({ state: "waiting" })
    expect(await alone.runs.expedite(id, by)).toBe(true)
    await alone.drain()
    expect(await alone.runs.wait(id)).toMatchObject({ result: "done" })
  })

  it("a ready run with another priority lets it go first", async () => {
    order.length = 0
    const runAt = new Date("2026-03-01T08:00Z")
    await app.enqueue(named, "first", { runAt })
    const last = await app.enqueue(named, "last", { runAt, priority: -5 })
    expect(await app.runs.expedite(last.id, { ...by, priority: 5 })).toBe(true)
    expect(await app.runs.get(last.id)).toMatchObject({ priority: 5, dueAt: runAt })
    await app.drain()
    expect(order).toEqual(["last", "first"])
  })

  it("a waiting run under a limit puts it in line, not ahead of the line", async () => {
    const run = await app.enqueue(limited, "in line", { delay: "1d" })
    expect(await app.runs.expedite(run.id, by)).toBe(true)
    expect(await app.runs.get(run.id)).toMatchObject({ state: "parked", parkedFor: "limit" })
    await app.drain()
    expect(order).toContain("in line")
  })

  it("a run that is parked, running, ended or unknown changes nothing, and leaves no record", async () => {
    const done = await app.enqueue(named, "done")
    await app.drain()
    await app.enqueue(limited, "one")
    const parked = await app.enqueue(limited, "two")
    for (const id of [done.id, parked.id, UNKNOWN_RUN]) {
      expect(await app.runs.expedite(id, by)).toBe(false)
      expect(await auditOf(app, id)).toEqual([])
    }
  })

  it("changes nothing if an option is wrong, or if the audit cannot be written", async () => {
    const run = await app.enqueue(named, "later", { delay: "1d" })
    await expect(app.runs.expedite(run.id, { ...by, priority: 0.5 })).rejects.toMatchObject({
      faults: [{ path: "priority" }],
    })
    await expect(app.runs.expedite(run.id, { actor: "", reason: " " })).rejects.toMatchObject({
      faults: [{ path: "actor" }, { path: "reason" }],
    })
    app.database.meddle("audit/record", broken)
    await expect(app.runs.expedite(run.id, by)).rejects.toThrow("the disk is full")
    expect(await app.runs.get(run.id)).toMatchObject({ state: "waiting" })
  })
})
