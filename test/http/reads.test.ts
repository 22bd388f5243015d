/** Every read of the library is a GET, and answers the same record as JSON. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ROUTES } from "../../src/http/routes.ts"
import { defineJob } from "../../src/index.ts"
import { httpOf } from "../support/http-calls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

describe("the API over HTTP", () => {
  const mail = defineJob({ name: "mail", pool: "mail", run: async (_: { to?: string }) => ({ sent: true }) })
  const broken = defineJob({
    name: "broken",
    retry: { attempts: 1 },
    run: async (_: object) => {
      throw Object.assign(new Error("no <b>route</b>"), { code: "EROUTE" })
    },
  })
  let kit: WatchedKit
  let app: WatchedApp
  let sent: string
  let dead: string
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [mail, broken], at: "2026-03-01T09:00Z" })
    sent = (await app.enqueue(mail, { to: "ada" }, { tags: ["eu"], tenant: "acme" })).id
    dead = (await app.enqueue(broken, {})).id
    await app.schedules.put({ name: "nightly", cron: "0 2 * * *", job: mail, input: { to: "bo" } })
    await app.schedules.runNow("nightly")
    await app.schedules.skipNext("nightly")
    await app.drain()
    await app.enqueue(mail, {}, { delay: "1h" })
    await app.pools.pause("mail", { for: "1h", actor: "ada", reason: "to see" })
    await app.everything.pause()
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  it("answers what each schema says, on every route that reads", async () => {
    const names: Readonly<Record<string, string>> = { id: sent, name: "nightly" }
    const { items } = (await httpOf(app).get("/api/v1/workers")).json as { items: { id: string }[] }
    const { error } = (await httpOf(app).get(`/api/v1/runs/${dead}`)).json as {
      error: { fingerprint: string }
    }
    const { id: bulk } = await app.bulk.start({ action: "cancel", filter: "tag:none" })
    const special: Readonly<Record<string, string>> = {
      "/dead-letters/{id}": `/dead-letters/${dead}`,
      "/dead-letters/groups/{job}/{fingerprint}": `/dead-letters/groups/broken/${error.fingerprint}`,
      "/bulk/{id}": `/bulk/${bulk}`,
      "/jobs/{name}": "/jobs/mail",
      "/calendar": "/calendar?from=2026-03-01T00:00Z&to=2026-03-02T00:00Z",
      "/pools/{name}": "/pools/mail",
      "/workers/{id}": `/workers/${items[0]?.id}`,
    }
    for (const { method, path, answers } of ROUTES.filter((route) => route.method === "get")) {
      const called = special[path] ?? path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name)
      const { status, json } = await httpOf(app).get(`/api/v1${called}`)
      expect({ method, path, status, json }).toMatchObject({ status: 200 })
      expect(answers[status]?.safeParse(json), path).toMatchObject({ success: true })
      // An entry of the audit has values as they were stored.
      if (path !== "/audit") expect(JSON.stringify(json), path).not.toContain(":null")
    }
  })

  it("writes instants in UTC with milliseconds, durations as numbers, and nothing that is absent", async () => {
    const { status, headers, json } = await httpOf(app).get(`/api/v1/runs/${sent}`)
    expect(status).toBe(200)
    expect(headers.get("Content-Type")).toBe("application/json")
    expect(json).toMatchObject({
      id: sent,
      state: "succeeded",
      tenant: "acme",
      tags: ["eu"],
      enqueuedAt: "2026-03-01T09:00:00.000Z",
      result: { sent: true },
    })
    expect(json).not.toHaveProperty("error")
  })

  it("pages through runs with a cursor, and repeats none", async () => {
    const first = await httpOf(app).get("/api/v1/runs?limit=2")
    const { items, nextCursor } = first.json as { items: { id: string }[]; nextCursor: string }
    const second = await httpOf(app).get(`/api/v1/runs?limit=2&cursor=${encodeURIComponent(nextCursor)}`)
    const rest = second.json as { items: { id: string }[] }
    const ids = [...items, ...rest.items].map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
    expect(rest).not.toHaveProperty("nextCursor")
  })

  it("reads filters, lists and instants in the query", async () => {
    const runs = await httpOf(app).get(`/api/v1/runs?filter=${encodeURIComponent("state:dead job:broken")}`)
    expect(runs.json).toMatchObject({ items: [{ id: dead, error: { code: "EROUTE" } }] })
    expect((await httpOf(app).get("/api/v1/runs/count?filter=job:broken")).json).toEqual({
      count: 1,
      capped: false,
    })
    const series = await httpOf(app).get(
      "/api/v1/stats?by=job,outcome&job=broken&from=2026-03-01T08:00:00Z&to=2026-03-01T10:00:00Z",
    )
    expect(series.json).toMatchObject({ items: [{ job: "broken", outcome: "failed", ends: 1 }] })
  })

  it("names every fault of a request, each with a pointer and what was meant", async () => {
    const { status, headers, json } = await httpOf(app).get("/api/v1/runs?limt=5&limit=x&cursor=1&cursor=2")
    expect(status).toBe(400)
    expect(headers.get("Content-Type")).toBe("application/problem+json")
    expect(json).toMatchObject({
      code: "OPTIONS_INVALID",
      title: "Options invalid",
      status: 400,
      retryable: false,
      requestId: headers.get("X-Request-Id"),
      errors: [
        { pointer: "/limit", message: "expected a whole number from 1 to 1000" },
        { pointer: "/cursor", message: "expected a text, got an array" },
        { pointer: "/limt", message: 'unknown; did you mean "limit"?' },
      ],
    })
  })

  it("says where a filter is wrong", async () => {
    const { status, json } = await httpOf(app).get("/api/v1/runs?filter=stat:dead")
    expect(status).toBe(400)
    expect(json).toMatchObject({ code: "FILTER_INVALID", errors: [{ pointer: "/filter" }] })
  })

  it.each([
    ["a run", "/runs/0195a6c2-4a10-7c3e-9c64-3f1d2b5a7e90", "RUN_NOT_FOUND"],
    ["attempts", "/runs/0195a6c2-4a10-7c3e-9c64-3f1d2b5a7e90/attempts", "RUN_NOT_FOUND"],
    ["a schedule", "/schedules/none", "SCHEDULE_NOT_FOUND"],
    ["fires", "/schedules/none/fires", "SCHEDULE_NOT_FOUND"],
    ["a job", "/jobs/none", "JOB_UNKNOWN"],
    ["a pool", "/pools/none", "NOT_FOUND"],
    ["a worker", "/workers/0195a6c2-4a10-7c3e-9c64-3f1d2b5a7e90", "NOT_FOUND"],
    ["a path", "/nothing", "NOT_FOUND"],
  ])("answers 404 for %s that is not there", async (_, path, code) => {
    const { status, json } = await httpOf(app).get(`/api/v1${path}`)
    expect({ status, json }).toMatchObject({ status: 404, json: { code, status: 404 } })
  })

  it("reads names with slashes, spaces and letters of any script", async () => {
    await app.schedules.put({ name: "a/b c%ü", every: "1d", job: mail, input: {} })
    const { json } = await httpOf(app).get(`/api/v1/schedules/${encodeURIComponent("a/b c%ü")}`)
    expect(json).toMatchObject({ name: "a/b c%ü", spec: { every: "1d" } })
    await app.schedules.delete("a/b c%ü")
  })

  it("works below a base path, and nowhere else", async () => {
    const below = httpOf(app, { access: "open", basePath: "/ops/jobs" })
    expect((await below.get("/ops/jobs/api/v1/pools")).status).toBe(200)
    expect((await below.get("/ops/jobs/healthz")).status).toBe(200)
    expect((await below.get("/api/v1/pools")).status).toBe(404)
  })
})
