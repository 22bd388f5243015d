/** What load balancers and supervisors ask, and who may ask at all. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createHttp } from "../../src/http/index.ts"
import { httpOf } from "../support/http-calls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describe("the health of a process", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it("is told without a look at the database", async () => {
    await using app = await kit.app()
    const before = app.database.ran.length
    const { status, json } = await httpOf(app).get("/healthz")
    expect({ status, json }).toEqual({ status: 200, json: { status: "ok" } })
    expect(app.database.ran.length).toBe(before)
  })

  it("is ready if the database has the schema of this version", async () => {
    await using app = await kit.app()
    expect((await httpOf(app).get("/readyz")).status).toBe(200)
    await app.query(`update "${app.database.schema}".migrations set version = version + 1000`)
    const { status, json } = await httpOf(app).get("/readyz")
    expect({ status, json }).toMatchObject({ status: 503, json: { code: "SCHEMA_NEWER" } })
  })

  it("is not ready while the process drains, and stays alive", async () => {
    await using app = await kit.app()
    const { http, get } = httpOf(app)
    http.drain()
    expect(await get("/readyz")).toMatchObject({ status: 503, json: { code: "NOT_READY", retryable: true } })
    expect((await get("/healthz")).status).toBe(200)
    expect((await get("/api/v1/pools")).status).toBe(200)
  })
})

describe("a server without tokens", () => {
  it.each([
    "evil.example",
    "evil.example:7117",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "0.0.0.0",
  ])("refuses the host %s, to which a website may have bound its name", async (host) => {
    const http = createHttp({} as never, { access: "open" })
    const response = await http.fetch(new Request("http://localhost/healthz", { headers: { Host: host } }))
    expect(response.status).toBe(421)
    expect(await response.json()).toMatchObject({ code: "HOST_REFUSED" })
  })

  it.each(["localhost", "LOCALHOST:7117", "127.0.0.1:80", "[::1]:7117", "jobs.example.com"])(
    "answers as %s, where that is its name",
    async (host) => {
      const http = createHttp({} as never, { access: "open", hosts: ["jobs.example.com"] })
      const response = await http.fetch(new Request("http://localhost/healthz", { headers: { Host: host } }))
      expect(response.status).toBe(200)
    },
  )

  it("refuses options that it does not know", () => {
    expect(() => createHttp({} as never, { access: "opne" as never })).toThrow('did you mean "open"')
    expect(() => createHttp({} as never, { access: "open", basePath: "jobs/" })).toThrow("basePath")
  })
})
