/** A process without a job can make schedules of it, and reads of one tenant stay with that tenant. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describe("a schedule of a job that another process declares", () => {
  const mail = defineJob({ name: "mail", pool: "post", overlap: "queue", run: async (_: object) => "sent" })
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it("takes the stored settings of the job, and executes where the job is", async () => {
    await using app = await kit.app({ jobs: [mail], at: "2026-03-01T09:30Z" })
    await app.tick()
    await using other = await kit.beside(app)
    const made = await other.schedules.put({
      name: "hourly",
      cron: "0 * * * *",
      job: "mail",
      input: { to: "a" },
    })
    expect(made).toMatchObject({
      outcome: "created",
      schedule: { job: "mail", policy: { overlap: "queue", from: { overlap: "job" } } },
    })
    await app.clock.advance("1h")
    expect((await app.runs.list()).items).toMatchObject([{ job: "mail", pool: "post", state: "succeeded" }])
  })

  it("is refused for a name that no process has declared", async () => {
    await using app = await kit.app({ jobs: [mail] })
    await app.tick()
    await using other = await kit.beside(app)
    const wanted = { name: "hourly", cron: "0 * * * *", job: "mial" }
    await expect(other.schedules.create(wanted)).rejects.toMatchObject({ code: "JOB_UNKNOWN" })
  })

  it("is not put over a version that the caller has not read", async () => {
    await using app = await kit.app({ jobs: [mail] })
    const wanted = { name: "hourly", cron: "0 * * * *", job: mail, input: {} }
    await expect(app.schedules.put(wanted, { version: 1 })).rejects.toMatchObject({
      code: "SCHEDULE_CHANGED",
    })
    await app.schedules.put(wanted)
    const later = { ...wanted, cron: "5 * * * *" }
    await app.schedules.put(later, { version: 1 })
    await expect(app.schedules.put(wanted, { version: 1 })).rejects.toMatchObject({
      code: "SCHEDULE_CHANGED",
    })
    expect(await app.schedules.get("hourly")).toMatchObject({ version: 2, spec: { cron: "5 * * * *" } })
  })
})

describe("the tenant of a read", () => {
  it("holds whatever the filter says", async () => {
    const kit = await createWatchedKit()
    const job = defineJob({ name: "work", run: async () => {} })
    await using app = await kit.app({ jobs: [job] })
    for (const tenant of ["acme", "bolt"]) await app.enqueue(job, undefined, { tenant, tags: [tenant] })
    const filters = ["tenant:bolt", "-tenant:acme", "tag:bolt", "", { tenant: "bolt" }]
    for (const filter of filters) {
      const { items } = await app.runs.list({ filter, tenant: "acme" })
      expect(items.every(({ tenant }) => tenant === "acme")).toBe(true)
    }
    expect(await app.runs.count({ filter: "tag:acme,bolt", tenant: "acme" })).toMatchObject({ count: 1 })
    const { nextCursor } = await app.runs.list({ limit: 1 })
    await expect(app.runs.list({ tenant: "acme", cursor: nextCursor ?? "" })).rejects.toThrow("cursor")
    await app.close()
    await kit.close()
  })
})
