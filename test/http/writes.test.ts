/** Every change of the library is a request, and the audit says who made it and why. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { type HttpCalls, httpOf } from "../support/http-calls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

describe("a change over HTTP", () => {
  const mail = defineJob({ name: "mail", pool: "mail", run: async (_: { to?: string }) => ({ sent: true }) })
  const broken = defineJob({
    name: "broken",
    retry: { attempts: 1 },
    run: async (input: { good?: boolean }) => {
      if (!input.good) throw new Error("no route")
    },
  })
  const why = { "X-Carillon-Actor": "ada" }
  let kit: WatchedKit
  let app: WatchedApp
  let http: HttpCalls
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [mail, broken], at: "2026-03-01T09:00Z" })
    await app.start()
    http = httpOf(app)
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  async function dead(): Promise<string> {
    const { id } = await app.enqueue(broken, {})
    await app.runs.wait(id).catch(() => {})
    return id
  }

  async function lastChange(subject: string) {
    return (await app.audit.list({ subject })).items[0]
  }

  it("enqueues a run, and answers 200 with the same run for the same key", async () => {
    const body = { job: "mail", input: { to: "ada" }, key: "welcome", tags: ["eu"], delay: "1h" }
    const made = await http.send("POST", "/api/v1/runs", body)
    expect(made).toMatchObject({ status: 201, json: { job: "mail", state: "waiting", key: "welcome" } })
    const { id } = made.json as { id: string }
    expect(made.headers.get("Location")).toBe(`runs/${id}`)
    expect(await http.send("POST", "/api/v1/runs", body)).toMatchObject({ status: 200, json: { id } })
  })

  it("answers with the end of a run if it may wait for it", async () => {
    const waited = await http.send("POST", "/api/v1/runs?wait=30s", { job: "mail", input: {} })
    expect(waited).toMatchObject({ status: 201, json: { state: "succeeded", result: { sent: true } } })
    const { id } = (await http.send("POST", "/api/v1/runs", { job: "mail", input: {} })).json as {
      id: string
    }
    const read = await http.get(`/api/v1/runs/${id}`, { Prefer: "wait=30" })
    expect(read).toMatchObject({ status: 200, json: { state: "succeeded" } })
  })

  it("answers with no more than the id if the client prefers that", async () => {
    const made = await http.send("POST", "/api/v1/runs", { job: "mail" }, { Prefer: "return=minimal" })
    expect(made).toMatchObject({ status: 201, json: { id: expect.any(String) } })
    expect(Object.keys(made.json as object)).toEqual(["id"])
  })

  it("enqueues a batch, all or none", async () => {
    const items = [{ input: { to: "a" } }, { input: { to: "b" }, delay: "1h", tags: ["late"] }]
    const made = await http.send("POST", "/api/v1/runs/batch", { job: "mail", items })
    expect(made).toMatchObject({ status: 201, json: { items: [{ created: true }, { created: true }] } })
    const { count } = await app.runs.count()
    const wrong = { job: "mail", items: [{ input: {} }, { input: {}, priority: 1e6 }, { dealy: 5 }] }
    expect(await http.send("POST", "/api/v1/runs/batch", wrong)).toMatchObject({
      status: 400,
      json: { errors: [{ pointer: "/items/2/dealy", message: 'unknown; did you mean "delay"?' }] },
    })
    expect((await app.runs.count()).count).toBe(count)
  })

  it("cancels and expedites a run, with actor and reason in the audit", async () => {
    const { id } = await app.enqueue(mail, {}, { delay: "1h" })
    const faster = await http.send("POST", `/api/v1/runs/${id}/expedite`, { priority: 5, reason: "vip" }, why)
    expect(faster).toMatchObject({ status: 200, json: { id, priority: 5 } })
    expect(await lastChange(`run:${id}`)).toMatchObject({
      action: "run.expedite",
      actor: "ada",
      reason: "vip",
    })
    const other = await app.enqueue(mail, {}, { delay: "1h" })
    const cancelled = await http.send("POST", `/api/v1/runs/${other.id}/cancel?reason=twice`, undefined, why)
    expect(cancelled).toMatchObject({ status: 200, json: { id: other.id, state: "cancelled" } })
    expect(await lastChange(`run:${other.id}`)).toMatchObject({ actor: "ada", reason: "twice" })
  })

  it("delays, moves, edits, reruns and clones a run", async () => {
    const { id } = await app.enqueue(mail, {}, { delay: "1h" })
    const path = `/api/v1/runs/${id}`
    expect(await http.send("POST", `${path}/delay`, { until: "2026-03-02T00:00:00Z" })).toMatchObject({
      status: 200,
      json: { dueAt: "2026-03-02T00:00:00.000Z" },
    })
    expect(await http.send("POST", `${path}/move`, { pool: "other" })).toMatchObject({
      json: { pool: "other" },
    })
    const edited = await http.send("POST", `${path}/edit`, { input: { to: "bo" }, tags: ["x"] }, why)
    expect(edited).toMatchObject({ json: { input: { to: "bo" }, tags: ["x"] } })
    expect(await http.send("POST", `${path}/rerun`)).toMatchObject({
      status: 409,
      json: { code: "RUN_NOT_ENDED" },
    })
    const copy = await http.send("POST", `${path}/clone`, { delay: "2h", priority: 7 })
    expect(copy).toMatchObject({ status: 201, json: { rerunOf: id, priority: 7, input: { to: "bo" } } })
  })

  it("carries one action on all runs that meet a filter", async () => {
    await app.enqueue(mail, {}, { delay: "1h", tags: ["bulk"] })
    const wanted = { action: "cancel", filter: "tag:bulk" }
    expect(await http.send("POST", "/api/v1/bulk/preview", wanted)).toMatchObject({ json: { count: 1 } })
    const started = await http.send("POST", "/api/v1/bulk", { ...wanted, reason: "storm" }, why)
    expect(started).toMatchObject({ status: 202, json: { actor: "ada", reason: "storm", action: "cancel" } })
    const { id } = started.json as { id: string }
    expect(await http.get(`/api/v1/bulk/${id}`)).toMatchObject({ status: 200, json: { id } })
    expect((await http.get("/api/v1/bulk")).json).toMatchObject({ items: [{ id }] })
  })

  it("overrides settings of a job until an end", async () => {
    const path = "/api/v1/jobs/mail/override"
    const set = await http.send("PUT", path, { settings: { retry: { attempts: 9 } }, for: "1h" }, why)
    expect(set).toMatchObject({ status: 200, json: { settings: { retry: { from: "override" } } } })
    expect(await http.send("DELETE", path)).toMatchObject({ status: 200, json: { name: "mail" } })
    expect(await http.send("PUT", path, { settings: {} })).toMatchObject({ status: 400 })
  })

  it("replays, edits and discards dead letters", async () => {
    const [first, second, third] = [await dead(), await dead(), await dead()]
    const edited = await http.send("POST", `/api/v1/dead-letters/${first}/edit-and-replay`, {
      input: { good: true },
      reason: "mended",
    })
    expect(edited).toMatchObject({ status: 200, json: { id: first, generation: 2 } })
    expect(await http.get(`/api/v1/runs/${first}?wait=30s`)).toMatchObject({ json: { state: "succeeded" } })
    const gone = await http.send("POST", `/api/v1/dead-letters/${second}/discard`, {})
    expect(gone).toMatchObject({ status: 200, json: { id: second, state: "discarded" } })
    const all = await http.send("POST", "/api/v1/dead-letters/replay", { job: "broken", limit: 1 })
    expect(all).toMatchObject({ status: 200, json: { replayed: 1, more: false } })
    await app.runs.wait(third).catch(() => {})
    expect(await http.send("POST", "/api/v1/dead-letters/discard", {})).toMatchObject({
      status: 400,
      json: { code: "OPTIONS_INVALID", detail: expect.stringContaining("all dead letters") },
    })
    const rest = await http.send("POST", "/api/v1/dead-letters/discard", { job: "broken" })
    expect(rest).toMatchObject({ status: 200, json: { discarded: 1, more: false } })
  })

  it("decides about groups of dead letters", async () => {
    const id = await dead()
    const { json } = await http.get(`/api/v1/dead-letters/${id}`)
    const { fingerprint } = (json as { error: { fingerprint: string } }).error
    const group = `/api/v1/dead-letters/groups/broken/${fingerprint}`
    expect(await http.send("POST", `${group}/resolve`, { version: "2.0" })).toMatchObject({
      status: 200,
      json: { state: "resolved", resolvedIn: "2.0" },
    })
    expect(await http.send("POST", `${group}/ignore`)).toMatchObject({ json: { state: "ignored" } })
    expect(await http.send("POST", `${group}/reopen`)).toMatchObject({ json: { state: "open", count: 1 } })
    expect(await http.get(group)).toMatchObject({ status: 200, json: { fingerprint, count: 1 } })
  })

  it("pauses and resumes jobs and pools", async () => {
    const paused = await http.send("POST", "/api/v1/jobs/mail/pause", { reason: "storm" }, why)
    expect(paused).toMatchObject({ status: 200, json: { paused: { actor: "ada", reason: "storm" } } })
    const resumed = await http.send("POST", "/api/v1/jobs/mail/resume", {})
    expect(resumed.status).toBe(200)
    expect(resumed.json).not.toHaveProperty("paused")
    const pool = await http.send("POST", "/api/v1/pools/mail/pause", {}, why)
    expect(pool).toMatchObject({ status: 200, json: { name: "mail", paused: { actor: "ada" } } })
    expect((await http.send("POST", "/api/v1/pools/mail/resume")).json).not.toHaveProperty("paused")
    expect(await http.send("POST", "/api/v1/jobs/mial/pause", {})).toMatchObject({
      status: 404,
      json: { code: "JOB_UNKNOWN", detail: expect.stringContaining('"mail"') },
    })
  })

  it("pauses a tenant for a time, and everything", async () => {
    const tenant = await http.send("POST", "/api/v1/tenants/acme/pause", { for: "1h" }, why)
    expect(tenant).toMatchObject({ status: 200, json: { name: "acme", paused: { actor: "ada" } } })
    expect(tenant.json).toHaveProperty("paused.until")
    expect((await http.send("POST", "/api/v1/tenants/acme/resume", {})).json).toEqual({ name: "acme" })
    const all = await http.send("POST", "/api/v1/everything/pause", { reason: "move" }, why)
    expect(all).toMatchObject({ status: 200, json: { items: [{ kind: "everything", reason: "move" }] } })
    expect((await http.send("POST", "/api/v1/everything/resume")).json).toEqual({ items: [] })
  })

  it("makes, changes and deletes a schedule by its version", async () => {
    const path = "/api/v1/schedules/nightly"
    const wanted = { job: "mail", cron: "0 2 * * *", input: { to: "bo" } }
    const made = await http.send("PUT", path, wanted, { "If-None-Match": "*", ...why })
    expect(made).toMatchObject({
      status: 201,
      json: { name: "nightly", version: 1, spec: { cron: "0 2 * * *" } },
    })
    expect(made.headers.get("ETag")).toBe('"1"')
    expect(await http.send("PUT", path, wanted, { "If-None-Match": "*" })).toMatchObject({
      status: 409,
      json: { code: "SCHEDULE_EXISTS" },
    })
    expect((await http.send("PUT", path, wanted)).status).toBe(200)
    const later = await http.send("PUT", path, { ...wanted, cron: "0 3 * * *" }, { "If-Match": '"1"' })
    expect(later).toMatchObject({ status: 200, json: { version: 2 } })
    expect(await http.send("PUT", path, wanted, { "If-Match": '"1"' })).toMatchObject({
      status: 412,
      json: { code: "SCHEDULE_CHANGED" },
    })
    expect(await http.send("PATCH", path, { cron: "0 4 * * *" })).toMatchObject({ status: 428 })
    const patched = await http.send("PATCH", path, { notes: "ask bo", tags: ["x"] }, { "If-Match": '"2"' })
    expect(patched).toMatchObject({ status: 200, json: { version: 3, settings: { notes: "ask bo" } } })
    const cleared = await http.send("PATCH", path, { notes: null }, { "If-Match": '"3"' })
    expect(cleared.json).not.toHaveProperty("settings.notes")
    expect((await http.send("DELETE", `${path}?reason=done`, undefined, why)).status).toBe(204)
    expect((await http.send("DELETE", path)).status).toBe(404)
    expect((await http.get(path)).status).toBe(404)
  })

  it("steers a schedule", async () => {
    const path = "/api/v1/schedules/hourly"
    await http.send("PUT", path, { job: "mail", cron: "0 * * * *", input: {} })
    expect(await http.send("POST", `${path}/pause`, { until: "2026-03-02T00:00:00Z" })).toMatchObject({
      json: { state: "paused", resumeAt: "2026-03-02T00:00:00.000Z" },
    })
    expect(await http.send("POST", `${path}/resume`)).toMatchObject({ json: { state: "active" } })
    expect(await http.send("POST", `${path}/skip-next`)).toMatchObject({
      json: { skipped: "2026-03-01T10:00:00.000Z" },
    })
    const { json } = await http.send("POST", `${path}/run-now`, {})
    expect(await http.get(`/api/v1/runs/${(json as { run: string }).run}`)).toMatchObject({ status: 200 })
    const span = { from: "2026-03-01T00:00:00Z", to: "2026-03-01T05:00:00Z" }
    expect(await http.send("POST", `${path}/backfill`, { ...span, dryRun: true })).toMatchObject({
      json: { count: 5 },
    })
    expect(await http.send("POST", `${path}/cancel`, {})).toMatchObject({ json: { state: "cancelled" } })
  })

  it("previews a schedule in words, with warnings", async () => {
    const wanted = { cron: "30 2 * * *", timeZone: "Europe/Oslo", from: "2026-03-28T12:00:00Z", count: 2 }
    expect(await http.send("POST", "/api/v1/schedules/preview", wanted)).toMatchObject({
      status: 200,
      json: {
        occurrences: ["2026-03-29T01:30:00.000Z", "2026-03-30T00:30:00.000Z"],
        warnings: expect.arrayContaining([expect.objectContaining({ code: "dst-shifted" })]),
      },
    })
    expect(await http.send("POST", "/api/v1/schedules/preview", { cron: "61 * * * *" })).toMatchObject({
      status: 422,
      json: { code: "CRON_RANGE" },
    })
  })
})

describe("a request that changes something", () => {
  let kit: WatchedKit
  let app: WatchedApp
  let http: HttpCalls
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [defineJob({ name: "mail", run: async () => {} })] })
    http = httpOf(app)
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  it.each([
    ["no JSON", "{", "application/json", 400, "BODY_INVALID"],
    ["a text that a form can send", '{"job":"mail"}', "text/plain", 415, "MEDIA_TYPE"],
    ["a form", "job=mail", "application/x-www-form-urlencoded", 415, "MEDIA_TYPE"],
    [
      "100,000 levels",
      `{"job":"mail","input":${"[".repeat(100_000)}`,
      "application/json",
      400,
      "BODY_INVALID",
    ],
    ["a list", "[]", "application/json", 400, "OPTIONS_INVALID"],
  ])("is refused with %s as its body", async (_, body, type, status, code) => {
    const answer = await http.send("POST", "/api/v1/runs", body, { "Content-Type": type })
    expect(answer).toMatchObject({ status, json: { code } })
  })

  it("is refused before it is read if it is too large or compressed", async () => {
    const large = JSON.stringify({ job: "mail", input: "x".repeat(3 * 1024 * 1024) })
    expect(await http.send("POST", "/api/v1/runs", large)).toMatchObject({ status: 413 })
    const packed = { "Content-Encoding": "gzip", "Content-Type": "application/json" }
    expect(await http.send("POST", "/api/v1/runs", "{}", packed)).toMatchObject({ status: 415 })
  })

  it("is answered with a hundred faults at most, however many it has", async () => {
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 0]))
    const unknown = await http.send("POST", "/api/v1/runs", { job: "work", ...fields })
    expect(unknown).toMatchObject({ status: 400, json: { code: "OPTIONS_INVALID" } })
    expect((unknown.json as { errors: unknown[] }).errors).toHaveLength(100)
    const tags = Array.from({ length: 100_000 }, () => 0)
    const long = await http.send("POST", "/api/v1/runs", { job: "work", tags })
    expect(long.json).toMatchObject({ errors: [{ pointer: "/tags", message: "expected at most 20 items" }] })
  })

  it("keeps `__proto__` as data or refuses it, and pollutes nothing", async () => {
    const odd =
      '{"job":"mail","input":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}'
    expect((await http.send("POST", "/api/v1/runs", odd)).status).toBe(201)
    expect((await http.send("POST", "/api/v1/runs", '{"job":"mail","__proto__":{"a":1}}')).status).toBe(400)
    expect({}).not.toHaveProperty("polluted")
  })

  it("names the methods of a path that takes others", async () => {
    const answer = await http.send("DELETE", "/api/v1/runs")
    expect(answer).toMatchObject({ status: 405, json: { code: "METHOD_NOT_ALLOWED" } })
    expect(answer.headers.get("Allow")).toBe("GET, POST")
    expect((await http.get("/api/v1/runs/batch/x/y")).status).toBe(404)
  })
})
