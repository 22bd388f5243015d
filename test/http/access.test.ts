/** A caller does what its token allows and no more, and learns nothing of other tenants. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Route } from "../../src/http/route.ts"
import { ROUTES } from "../../src/http/routes.ts"
import { defineJob, type TokenScope } from "../../src/index.ts"
import { type HttpCalls, httpOf } from "../support/http-calls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const UNKNOWN = "0195a6c2-4a10-7c3e-9c64-3f1d2b5a7e90"
const SCOPES: readonly TokenScope[] = ["read", "enqueue", "work", "operate", "admin"]
const PUBLIC_PATHS = ["/healthz", "/readyz", "/openapi.json", "/docs"]

describe("a server with tokens", () => {
  const job = defineJob({
    name: "work",
    retry: { attempts: 1 },
    run: async (input: { fail?: boolean }) => {
      if (input.fail) throw new Error("taint-of-bolt")
    },
  })
  let kit: WatchedKit
  let app: WatchedApp
  let http: HttpCalls
  const tokens = new Map<string, string>()
  /** What belongs to the tenant bolt. */
  const foreign = { run: "", letter: "", waiting: "", schedule: "bolts" }
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [job] })
    http = httpOf(app, {})
    for (const scope of SCOPES) {
      tokens.set(scope, (await app.tokens.create({ name: scope, scopes: [scope] })).token)
      const bound = await app.tokens.create({ name: `acme ${scope}`, scopes: [scope], tenant: "acme" })
      tokens.set(`acme ${scope}`, bound.token)
    }
    const of = { tenant: "bolt", tags: ["taint-of-bolt"] }
    foreign.run = (await app.enqueue(job, {}, of)).id
    foreign.letter = (await app.enqueue(job, { fail: true }, of)).id
    await app.schedules.put({ name: foreign.schedule, tenant: "bolt", every: "1d", job, input: {} })
    await app.drain()
    foreign.waiting = (await app.enqueue(job, {}, { ...of, delay: "1h" })).id
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  const as = (who: string) => ({ Authorization: `Bearer ${tokens.get(who)}` })

  function call(route: Route, path: string, who?: string, body: unknown = {}) {
    const headers = who === undefined ? {} : as(who)
    return http.send(route.method.toUpperCase(), `/api/v1${path}`, route.body && body, headers)
  }

  const named = (route: Route) => `${route.method.toUpperCase()} ${route.path}`
  const withIds = ({ path }: Route, id: string, name: string) =>
    path.replace("{id}", id).replace("{name}", name).replace("{job}", "none").replace("{fingerprint}", "none")

  it("refuses every route without a token or with a wrong one; health and documentation are public", async () => {
    for (const route of ROUTES) {
      const path = withIds(route, UNKNOWN, "none")
      const answer = await call(route, path)
      expect({ route: named(route), ...answer }).toMatchObject({
        status: 401,
        json: { code: "TOKEN_MISSING" },
      })
      expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer")
    }
    for (const path of PUBLIC_PATHS) expect((await http.get(path)).status).toBe(200)
  })

  it("allows each route to the tokens with its scope, to admins, and reads to operators", async () => {
    for (const route of ROUTES) {
      for (const scope of SCOPES) {
        const isAllowed =
          [route.scope, "admin"].includes(scope) ||
          route.scope === "any" ||
          (route.scope === "read" && scope === "operate")
        // A body with an unknown field is refused after the token has been checked, so nothing is changed.
        const { status, json } = await call(route, withIds(route, UNKNOWN, "none"), scope, { nothing: 1 })
        const isRefused = status === 403 && (json as { code: string }).code === "SCOPE_MISSING"
        expect({ route: named(route), scope, isRefused }).toEqual({
          route: named(route),
          scope,
          isRefused: !isAllowed,
        })
      }
    }
  })

  it("answers a token of a tenant for things of others exactly as for things that never were", async () => {
    const bodies: Readonly<Record<string, unknown>> = {
      "/dead-letters/{id}/edit-and-replay": { input: {} },
      "/runs/{id}/delay": { for: "1h" },
      "/runs/{id}/move": { pool: "other" },
      "/schedules/{name}/backfill": { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" },
    }
    const before = await app.audit.list({ limit: 1000 })
    const ids = Object.values(foreign).slice(0, 3)
    for (const route of ROUTES.filter(({ path }) => /\{(id|name)\}/.test(path))) {
      if (route.method === "put") continue
      for (const id of ids) {
        const answers = []
        for (const [one, name] of [
          [id, foreign.schedule],
          [UNKNOWN, "other"],
        ] as const) {
          const body = bodies[route.path] ?? {}
          const headers = { ...as("acme admin"), "X-Request-Id": "same", "If-Match": '"1"' }
          const path = `/api/v1${withIds(route, one, name)}`
          const { status, text } = await http.send(
            route.method.toUpperCase(),
            path,
            route.body && body,
            headers,
          )
          answers.push({ status, text: text.replaceAll(one, "ID").replaceAll(name, "NAME") })
        }
        expect({ route: named(route), answer: answers[0] }).toEqual({
          route: named(route),
          answer: answers[1],
        })
        expect([403, 404]).toContain(answers[0]?.status)
      }
    }
    expect(await app.audit.list({ limit: 1000 })).toEqual(before)
  })

  it("shows a token of a tenant nothing of others in any list", async () => {
    for (const route of ROUTES.filter(({ method, path }) => method === "get" && !path.includes("{"))) {
      const { status, text } = await call(route, route.path, "acme admin")
      expect(text, named(route)).not.toContain("bolt")
      expect([200, 403], named(route)).toContain(status)
    }
    const filter = encodeURIComponent("tenant:bolt")
    expect((await http.get(`/api/v1/runs?filter=${filter}`, as("acme read"))).json).toEqual({ items: [] })
    expect((await http.get("/api/v1/runs/count", as("acme read"))).json).toMatchObject({ count: 0 })
  })

  it("takes the name of a tenant for no more than a name", async () => {
    const { token } = await app.tokens.create({ name: "star", scopes: ["operate"], tenant: "*" })
    const star = { Authorization: `Bearer ${token}` }
    for (const path of ["/runs", "/dead-letters", "/schedules"]) {
      expect((await http.get(`/api/v1${path}`, star)).json).toEqual({ items: [] })
    }
    const replay = await http.send("POST", "/api/v1/dead-letters/replay", { job: "work" }, star)
    expect(replay).toMatchObject({ status: 200, json: { replayed: 0 } })
  })

  it("takes the tenant from the token alone", async () => {
    const body = { job: "work", input: {}, delay: "1h" }
    const made = await http.send("POST", "/api/v1/runs", body, as("acme admin"))
    expect(made).toMatchObject({ status: 201, json: { tenant: "acme" } })
    const other = await http.send("POST", "/api/v1/runs", { ...body, tenant: "bolt" }, as("acme enqueue"))
    expect(other).toMatchObject({ status: 403, json: { code: "TENANT_BOUND" } })
    const batch = { job: "work", items: [{ input: {} }, { input: {}, tenant: "bolt" }] }
    expect(await http.send("POST", "/api/v1/runs/batch", batch, as("acme enqueue"))).toMatchObject({
      status: 403,
    })
    expect(await http.get("/api/v1/schedules?tenant=bolt", as("acme read"))).toMatchObject({ status: 403 })
    const put = await http.send(
      "PUT",
      "/api/v1/schedules/mine",
      { job: "work", every: "1d" },
      as("acme operate"),
    )
    expect(put).toMatchObject({ status: 201, json: { tenant: "acme" } })
  })

  it("tells a token that may only enqueue nothing but the id", async () => {
    const body = { job: "work", input: { to: "secret" }, key: "once" }
    await http.send("POST", "/api/v1/runs", body, as("admin"))
    const { status, json } = await http.send("POST", "/api/v1/runs", body, as("enqueue"))
    expect({ status, keys: Object.keys(json as object) }).toEqual({ status: 200, keys: ["id"] })
  })

  it("names the token in the audit, and whom it acts for", async () => {
    await http.send(
      "POST",
      `/api/v1/runs/${foreign.waiting}/cancel`,
      {},
      { ...as("operate"), "X-Carillon-Actor": "ada" },
    )
    const [entry] = (await app.audit.list({ subject: `run:${foreign.waiting}` })).items
    expect(entry).toMatchObject({ actor: "ada by operate" })
    expect((await http.get("/api/v1/me", as("acme read"))).json).toEqual({
      actor: "acme read",
      scopes: ["read"],
      tenant: "acme",
    })
  })

  it("creates, lists and revokes tokens, and stores no secret", async () => {
    const wanted = { name: "ci", scopes: ["read"], reason: "new pipeline" }
    const made = await http.send("POST", "/api/v1/tokens", wanted, as("admin"))
    const { id, token } = made.json as { id: string; token: string }
    expect(made.status).toBe(201)
    expect((await http.get("/api/v1/me", { Authorization: `Bearer ${token}` })).status).toBe(200)
    const secret = token.split("_")[2] ?? ""
    const rows = await app.query(
      `select row_to_json(t)::text as row from "${app.database.schema}".tokens as t`,
    )
    expect(JSON.stringify(rows)).toContain(id)
    expect(JSON.stringify(rows)).not.toContain(secret)
    const { items } = await app.audit.list({ subject: `token:${id}` })
    expect(items).toMatchObject([{ action: "token.created", actor: "admin", reason: "new pipeline" }])
    expect((await http.send("DELETE", `/api/v1/tokens/${id}`, undefined, as("admin"))).status).toBe(204)
    expect((await http.send("DELETE", `/api/v1/tokens/${id}`, undefined, as("admin"))).status).toBe(404)
    // Another process has not seen the token before.
    const other = httpOf(app, {})
    expect(await other.get("/api/v1/me", { Authorization: `Bearer ${token}` })).toMatchObject({
      status: 401,
      json: { code: "TOKEN_INVALID" },
    })
    expect(await app.tokens.list()).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id, revokedAt: expect.any(Date) })]),
    })
  })

  it("refuses a token that has expired", async () => {
    const { token } = await app.tokens.create({ name: "short", scopes: ["read"], expiresIn: "1h" })
    expect(await app.tokens.verify(token)).toMatchObject({ name: "short" })
    await app.clock.advance("2h")
    expect(await app.tokens.verify(token)).toBeUndefined()
    expect(await app.tokens.verify(`${token}0`)).toBeUndefined()
  })

  it("refuses an address after twenty wrong tokens, also with a right one", async () => {
    const own = httpOf(app, {})
    const wrong = { Authorization: `Bearer carillon_${"0".repeat(16)}_${"0".repeat(64)}` }
    for (let count = 0; count < 20; count += 1) expect((await own.get("/api/v1/me", wrong)).status).toBe(401)
    const answer = await own.get("/api/v1/me", as("read"))
    expect(answer).toMatchObject({ status: 429, json: { code: "TOKEN_FAILURES" } })
    expect(answer.headers.get("Retry-After")).toBe("60")
    expect((await own.get("/healthz")).status).toBe(200)
  })

  it("locks out neither callers that it knows nor other clients of the same proxy", async () => {
    const own = httpOf(app, {})
    expect((await own.get("/api/v1/me", as("read"))).status).toBe(200)
    const wrong = { Authorization: `Bearer carillon_${"0".repeat(16)}_${"0".repeat(64)}` }
    const from = (address: string) => ({ "X-Forwarded-For": `192.0.2.200, ${address}` })
    for (let count = 0; count < 20; count += 1) {
      await own.get("/api/v1/me", { ...wrong, ...from("198.51.100.1") })
    }
    const refused = await own.get("/api/v1/me", { ...as("admin"), ...from("198.51.100.1") })
    expect(refused.status).toBe(429)
    expect((await own.get("/api/v1/me", { ...as("read"), ...from("198.51.100.1") })).status).toBe(200)
    expect((await own.get("/api/v1/me", { ...as("admin"), ...from("198.51.100.2") })).status).toBe(200)
  })

  it("gives a browser a cookie that no script reads, and takes it from its own pages only", async () => {
    const token = tokens.get("admin") ?? ""
    const opened = await http.send("POST", "/api/v1/session", { token }, { "Sec-Fetch-Site": "same-origin" })
    expect(opened.status).toBe(204)
    const cookie = opened.headers.get("Set-Cookie") ?? ""
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
    const session = { Cookie: `other=1; ${cookie.split(";")[0]}` }
    expect((await http.get("/api/v1/me", session)).status).toBe(200)
    const change = (headers: Record<string, string>) =>
      http.send("POST", "/api/v1/pools/default/pause", {}, { ...session, ...headers })
    expect(await change({ "Sec-Fetch-Site": "cross-site" })).toMatchObject({
      json: { code: "ORIGIN_REFUSED" },
    })
    expect((await change({ "Sec-Fetch-Site": "same-site" })).status).toBe(403)
    expect((await change({ Origin: "https://evil.example" })).status).toBe(403)
    expect((await change({ Origin: "null" })).status).toBe(403)
    expect((await change({ "Sec-Fetch-Site": "same-origin" })).status).toBe(200)
    await app.pools.resume("default")
    const wrong = await http.send("POST", "/api/v1/session", { token: "carillon_x" })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get("Set-Cookie")).toBeNull()
    const closed = await http.send("DELETE", "/api/v1/session")
    expect(closed.headers.get("Set-Cookie")).toContain("Max-Age=0")
  })

  it("has no scope or tenant that a route forgets to name", () => {
    const mutating = ROUTES.filter(({ method, path }) => method !== "get" && !path.endsWith("/preview"))
    expect(mutating.filter(({ scope }) => scope === "read" || scope === "any").map(named)).toEqual([])
  })
})

describe("a server with open access", () => {
  it("refuses changes that a browser sends for another website", async () => {
    const kit = await createWatchedKit()
    const app = await kit.app()
    const { send } = httpOf(app, { access: "open" })
    const cross = { "Sec-Fetch-Site": "cross-site" }
    expect(await send("POST", "/api/v1/pools/default/pause", undefined, cross)).toMatchObject({ status: 403 })
    expect((await send("POST", "/api/v1/pools/default/pause", undefined, {})).status).toBe(200)
    await app.close()
    await kit.close()
  })
})
