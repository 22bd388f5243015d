/** A run of a schedule carries the schedule's id, and its name, which every call accepts. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineJob, type ScheduleRef } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

async function stage() {
  const heard: (ScheduleRef | undefined)[] = []
  const job = defineJob({ name: "work", run: async (_: undefined, ctx) => void heard.push(ctx.schedule) })
  const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z", lease: "1d" })
  const { id } = await app.schedules.create({ name: "nightly", job, every: "10m", overlap: "allow" })
  return { app, job, heard, id }
}

it("a run carries the name of its schedule in its handler, in its attempts and in lists", async () => {
  const { app, job, heard, id } = await stage()
  await app.enqueue(job)
  await app.clock.advance("10m")
  expect(heard).toEqual([undefined, { id, name: "nightly" }])
  const { items } = await app.runs.list()
  const [scheduled] = items.filter(({ schedule }) => schedule)
  expect(scheduled?.schedule).toMatchObject({ id, name: "nightly" })
  expect(await app.runs.attempts(scheduled?.id ?? "")).toMatchObject([{ schedule: { id, name: "nightly" } }])
  await app.close()
})

it("a run carries that name also when the schedule was deleted, and when another one has it now", async () => {
  const { app, job, heard, id } = await stage()
  await app.jobs.pause("work", by)
  await app.clock.set("2026-03-02T09:10Z")
  await app.tick()
  await app.schedules.delete("nightly", by)
  await app.schedules.create({ name: "nightly", job, every: "1h" })
  await app.jobs.resume("work", by)
  await app.drain()
  expect(heard).toEqual([{ id, name: "nightly" }])
  expect((await app.runs.list()).items).toMatchObject([{ schedule: { id, name: "nightly" } }])
  await app.close()
})

it("a run carries the id as the name where the audit forgot the name, or the id is foreign", async () => {
  const { app, heard, id } = await stage()
  await app.clock.set("2026-03-02T09:10Z")
  await app.jobs.pause("work", by)
  await app.tick()
  await app.schedules.delete("nightly", by)
  await execute(
    app.database,
    "delete from {audit}; update {runs} set schedule = 'odd' where schedule is not null",
  )
  await app.jobs.resume("work", by)
  await app.drain()
  expect(heard).toEqual([{ id: "odd", name: "odd" }])
  expect(id).not.toBe("odd")
  await app.close()
})

it("no statement asks for names where no run comes from a schedule", async () => {
  const { app, job } = await stage()
  await app.enqueue(job)
  await app.drain()
  await app.runs.list()
  expect(app.database.count("schedules/called")).toBe(0)
  await app.close()
})
