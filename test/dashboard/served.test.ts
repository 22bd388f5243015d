/** The page is served from any path, under a strict policy, and its files are cached for good. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { beforeAll, describe, expect, it } from "vitest"
import { buildDashboard } from "../support/dashboard.ts"
import { httpOf } from "../support/http-calls.ts"
import { ROOT } from "../support/sources.ts"

const HTML = { Accept: "text/html" }
const MOST_BYTES = 250_000

describe("the files of the dashboard", () => {
  beforeAll(() => buildDashboard())
  // No route of the API is asked, so there is nothing behind the handler.
  const open = httpOf({})

  it("run no code and no style but their own files, and load nothing from elsewhere", async () => {
    const { status, headers, text } = await open.get("/", HTML)
    expect(status).toBe(200)
    const policy = headers.get("Content-Security-Policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain("unsafe")
    expect(text).not.toMatch(/<style|style=|<script(?![^>]*src=)|https?:\/\//)
  })

  it.each([
    ["/", "./"],
    ["/runs", "./"],
    ["/runs/0195", "../"],
    ["/schedules/a%2Fb", "../"],
  ])("find the root from %s", async (path, base) => {
    const { text } = await open.get(path, HTML)
    expect(text).toContain(`<base href="${base}"`)
  })

  it("are below the base path, and lead there from its bare name", async () => {
    const below = httpOf({}, { access: "open", basePath: "/ops/jobs" })
    expect(await below.get("/ops/jobs", HTML)).toMatchObject({ status: 308 })
    expect(await below.get("/ops/jobs/", HTML)).toMatchObject({ status: 200 })
    expect(await below.get("/ops/jobs/runs/1", HTML)).toMatchObject({ status: 200 })
    expect(await below.get("/runs", HTML)).toMatchObject({ status: 404 })
    expect(await below.get("/ops/jobsx", HTML)).toMatchObject({ status: 404 })
  })

  it("keep their content under their name, so that browsers keep them for good", async () => {
    const [, asset] = /src="\.\/(assets\/[^"]+)"/.exec((await open.get("/", HTML)).text) ?? []
    const { status, headers } = await open.get(`/${asset}`)
    expect(status).toBe(200)
    expect(headers.get("Cache-Control")).toContain("immutable")
    expect(headers.get("Content-Type")).toContain("javascript")
    expect((await open.get("/", HTML)).headers.get("Cache-Control")).toBe("no-cache")
  })

  it("leave the paths of the API, of its documentation and unknown assets alone", async () => {
    expect((await open.get("/openapi.json", HTML)).json).toMatchObject({ openapi: "3.1.0" })
    expect((await open.get("/docs", HTML)).text).toContain("<h1>Carillon HTTP API</h1>")
    expect(await open.get("/api/v1/nothing", HTML)).toMatchObject({
      status: 404,
      json: { code: "NOT_FOUND" },
    })
    expect(await open.get("/assets/nothing.js", HTML)).toMatchObject({ status: 404 })
    expect(await open.get("/runs", { Accept: "application/json" })).toMatchObject({ status: 404 })
  })

  it("are not there if the option says so, nor under the name of another host", async () => {
    const without = httpOf({}, { access: "open", dashboard: false })
    expect(await without.get("/", HTML)).toMatchObject({ status: 404 })
    const foreign = await open.http.fetch(new Request("http://evil.example/", { headers: HTML }))
    expect(foreign.headers.get("Content-Type")).toContain("problem+json")
  })

  it("weigh less than 250 KB compressed", () => {
    const folder = join(ROOT, "dist/dashboard")
    const files = ["index.html", ...readdirSync(join(folder, "assets")).map((name) => `assets/${name}`)]
    const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
    expect(bytes).toBeLessThan(MOST_BYTES)
  })
})
