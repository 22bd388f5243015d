/** The document of the API lists every route with what it takes and answers, and the handler keeps to it. */
import { Validator } from "@seriousme/openapi-schema-validator"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { exampleOf } from "../../src/http/docs-example.ts"
import type { ApiDocument, Operation } from "../../src/http/openapi.ts"
import { problemRecord } from "../../src/http/problem.ts"
import { ROUTES } from "../../src/http/routes.ts"
import { type HttpCalls, httpOf } from "../support/http-calls.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

interface Described {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

describe("the document of the API", () => {
  let kit: WatchedKit
  let app: WatchedApp
  let open: HttpCalls
  let closed: HttpCalls
  let document: ApiDocument
  let described: readonly Described[]
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [] })
    open = httpOf(app)
    closed = httpOf(app, {})
    document = (await closed.get("/openapi.json")).json as ApiDocument
    described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
    )
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  const named = ({ method, path }: Pick<Described, "method" | "path">) => `${method} ${path}`
  const called = ({ path }: Described) => `/api/v1${path.replaceAll(/\{\w+\}/g, "none")}`
  const reads = () => described.filter(({ method }) => method === "get")

  it("is valid OpenAPI 3.1, and every reference in it leads somewhere", async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual(
      {
        valid: true,
      },
    )
    expect(document.openapi).toBe("3.1.0")
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
    expect(references.length).toBeGreaterThan(0)
    for (const [reference, kind, name] of references) {
      const parts = (document.components as unknown as Record<string, Record<string, unknown>>)[String(kind)]
      expect(parts?.[String(name)], reference).toBeDefined()
    }
  })

  it("lists every route and no others, each by a name of its own and under its noun", () => {
    expect(described.map(named).toSorted()).toEqual(ROUTES.map(named).toSorted())
    const ids = described.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(["runsList", "runsGet", "runsCreate", "runsCancel"]))
    expect(ids).toEqual(expect.arrayContaining(["deadLettersReplay", "deadLettersReplayMany"]))
    for (const { path, operation } of described) {
      expect(operation.tags).toEqual([path.split("/")[1]])
      expect(document.tags).toContainEqual({ name: operation.tags[0] })
    }
  })

  it("says of every route what it takes, what it answers and which scope it needs", () => {
    for (const route of ROUTES) {
      const { operation } = described.find((one) => named(one) === named(route)) ?? {}
      const parameters = operation?.parameters ?? []
      const namesIn = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name)
      expect(operation?.summary).toBe(route.summary)
      expect(namesIn("path")).toEqual(Object.keys(route.params.shape))
      expect(namesIn("path")).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(namesIn("query")).toEqual(Object.keys(route.query.shape))
      expect(operation?.requestBody !== undefined, named(route)).toBe(route.body !== undefined)
      const statuses = Object.keys(operation?.responses ?? {})
      expect(statuses, named(route)).toEqual(expect.arrayContaining(Object.keys(route.answers)))
      const roles = route.scope === "any" ? [] : [route.scope]
      expect(operation?.security, named(route)).toEqual([{ bearer: roles }, { cookie: roles }])
    }
  })

  it("has the records as components, and the headers that routes read", () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(["Run", "Attempt", "Schedule", "Job", "Pool", "Problem"]),
    )
    expect(Object.keys(document.components.securitySchemes)).toEqual(["bearer", "cookie"])
    const patch = document.paths["/schedules/{name}"]?.["patch"]
    expect(patch?.parameters).toContainEqual(
      expect.objectContaining({ name: "If-Match", in: "header", required: true }),
    )
    expect(Object.keys(patch?.responses ?? {})).toEqual(expect.arrayContaining(["412", "428"]))
  })

  it("asks every read for a token, as the handler does", async () => {
    for (const one of reads()) {
      const { status, json } = await closed.get(called(one))
      expect({ route: named(one), status }).toEqual({ route: named(one), status: 401 })
      expect(problemRecord.safeParse(json)).toMatchObject({ success: true })
      expect(one.operation.responses).toHaveProperty("401")
    }
  })

  it("tells the parameters of every read: the handler refuses another", async () => {
    for (const one of reads()) {
      const { status, json } = await open.get(`${called(one)}?nothing=1`)
      expect({ route: named(one), status }).toEqual({ route: named(one), status: 400 })
      expect(problemRecord.parse(json).errors).toContainEqual(
        expect.objectContaining({ pointer: "/nothing", message: expect.stringContaining("unknown") }),
      )
    }
  })

  it("tells the answers of every read: the handler gives no other status, and none of a fault of its own", async () => {
    for (const one of reads()) {
      const { status, headers } = await open.get(called(one))
      expect(status, named(one)).toBeLessThan(500)
      const answer = one.operation.responses[status]
      expect(answer, `${named(one)} answers ${status}`).toBeDefined()
      const isProblem = answer?.$ref !== undefined
      expect(headers.get("Content-Type"), named(one)).toBe(
        isProblem ? "application/problem+json" : "application/json",
      )
    }
  })

  it("tells which fields every body has: the handler refuses another, with a status of the document", async () => {
    for (const one of described.filter(({ operation }) => operation.requestBody)) {
      const { status, json } = await open.send(one.method.toUpperCase(), called(one), { nothing: 1 })
      expect({ route: named(one), status }).toEqual({ route: named(one), status: 400 })
      expect(problemRecord.parse(json).errors, named(one)).toContainEqual(
        expect.objectContaining({ pointer: "/nothing" }),
      )
    }
  })

  describe("as a page", () => {
    const browser = { Accept: "text/html" }

    it("has every route with an example, and every link on it leads to a place on it", async () => {
      const { status, headers, text } = await closed.get("/docs", browser)
      expect(status).toBe(200)
      expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8")
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const { operation } of described) expect(ids).toContain(operation.operationId)
      for (const [, link] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(link)
      expect(text.match(/<pre[^>]*>curl /g)?.length).toBe(ROUTES.length)
      expect(text).toContain("curl -X POST &quot;$CARILLON/api/v1/runs&quot;")
      expect(text).toContain("If-Match: &quot;3&quot;")
    })

    it("has examples whose bodies the routes take", () => {
      for (const route of ROUTES) {
        const { operation } = described.find((one) => named(one) === named(route)) ?? {}
        const body = operation?.requestBody?.content["application/json"]
        if (!body || !route.body) continue
        const example = exampleOf(body.schema)
        expect(route.body.safeParse(example), named(route)).toMatchObject({ success: true })
      }
    })

    it("has no script, loads nothing, allows nothing but its own style, and comes in light and dark", async () => {
      const { headers, text } = await closed.get("/docs", browser)
      expect(text).not.toMatch(/<script|<link|<img|\ssrc=|\sstyle=|\son\w+=|url\(|@import/i)
      const links = [...text.matchAll(/href="([^#"][^"]*)"/g)].map(([, link]) => link)
      expect(links).toEqual(["openapi.json"])
      const policy = headers.get("Content-Security-Policy") ?? ""
      const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(text) ?? []
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain(`style-src 'sha256-${Buffer.from(digest).toString("base64")}'`)
      expect(policy).not.toContain("unsafe")
      expect(style).toContain("color-scheme: light dark")
    })

    it("is no page of the dashboard, at any base path, and neither is the document", async () => {
      const below = httpOf(app, { access: "open", basePath: "/jobs" })
      const page = await below.get("/jobs/docs", browser)
      expect(page.text).toContain("<h1>Carillon HTTP API</h1>")
      const served = await below.get("/jobs/openapi.json", browser)
      expect(served.headers.get("Content-Type")).toBe("application/json")
      expect(served.json).toEqual(document)
      const alone = httpOf(app, { dashboard: false })
      expect((await alone.get("/docs", browser)).text).toBe(page.text)
    })
  })
})
