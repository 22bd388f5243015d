/** The handler: finds the route of a request, reads it, and writes the answer. */
import { OpenAPIHono, type z } from "@hono/zod-openapi"
import type { Carillon } from "../api/carillon.ts"
import { CarillonError, OptionsError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import { assertMay, createAccess } from "./access.ts"
import { readBody } from "./body.ts"
import { loadDashboard } from "./dashboard.ts"
import { createDocumentation, type Documentation } from "./documentation.ts"
import { assertOwnHost, assertOwnOrigin, isOwnHost } from "./guards.ts"
import type { ResolvedHttp } from "./options.ts"
import { parse } from "./parse.ts"
import { type Problem, problemOf } from "./problem.ts"
import { clientOf, type RequestInfo } from "./request-info.ts"
import { type Answer, ok, type RawRequest, type Route } from "./route.ts"
import { ROUTES } from "./routes.ts"
import { sessionBody, sessionCookie } from "./session-cookie.ts"

export interface AppParts {
  readonly host: Host
  readonly carillon: Carillon
  readonly options: ResolvedHttp
  readonly isDraining: () => boolean
}

/** How long `/readyz` waits for the database. */
const READY_WITHIN = "2s"
const RETRY_AFTER_S = "1"
const FAILURES_RETRY_AFTER_S = "60"
const UNAUTHENTICATED = 401
const SESSION_BYTES = 1_000

export function createApp({ host, carillon, options, isDraining }: AppParts) {
  const { basePath } = options
  const app = new OpenAPIHono<{ Bindings: { readonly info: RequestInfo } }>({ strict: false })
  const { callerOf, verify } = createAccess(host, carillon, options)
  let dashboard: ReturnType<typeof loadDashboard> | undefined
  let documented: Promise<Documentation> | undefined

  /** Runs the work of a route, and answers what it throws as a problem. */
  async function respond(request: Request, work: () => Promise<Answer>): Promise<Response> {
    const requestId = requestIdOf(request) ?? host.newId()
    try {
      assertOwnHost(request, options)
      return writeAnswer(await work(), requestId)
    } catch (error) {
      const problem = problemOf(error, requestId)
      if (problem.code === "INTERNAL") host.print("err", failureLine(problem, error))
      return writeProblem(problem)
    }
  }

  app.get(`${basePath}/healthz`, (c) => respond(c.req.raw, async () => ok({ status: "ok" })))
  app.get(`${basePath}/readyz`, (c) =>
    respond(c.req.raw, async () => {
      if (isDraining()) throw new CarillonError("NOT_READY", "This process is draining.")
      await carillon.ready({ deadline: READY_WITHIN })
      return ok({ status: "ready" })
    }),
  )
  app.get(`${basePath}/openapi.json`, (c) =>
    respond(c.req.raw, async () => ok((await documentation()).document)),
  )
  app.get(`${basePath}/docs`, (c) =>
    respond(c.req.raw, async () => {
      const { page, policy } = await documentation()
      return { status: 200, page, headers: { "Content-Security-Policy": policy } }
    }),
  )
  for (const route of ROUTES) {
    app.on(route.method.toUpperCase(), pathOf(route), (c) =>
      respond(c.req.raw, async () => {
        const { headers, signal } = c.req.raw
        const caller = await callerOf(c.req.raw, c.env.info)
        assertMay(caller, route)
        const body = route.body && (await readBody(c.req.raw, route.bodyBytes))
        const raw: RawRequest = { params: c.req.param(), query: queryOf(c.req.url), body }
        const { environment } = options
        return route.answer(raw, { carillon, caller, headers, signal, environment })
      }),
    )
  }
  app.post(`${basePath}/api/v1/session`, (c) =>
    respond(c.req.raw, async () => {
      assertOwnOrigin(c.req.raw)
      const { token } = readAs(sessionBody, await readBody(c.req.raw, SESSION_BYTES))
      await verify(token, clientOf(c.req.raw, c.env.info))
      return { status: 204, headers: { "Set-Cookie": sessionCookie(c.req.raw, basePath, token) } }
    }),
  )
  app.delete(`${basePath}/api/v1/session`, (c) =>
    respond(c.req.raw, async () => {
      assertOwnOrigin(c.req.raw)
      return { status: 204, headers: { "Set-Cookie": sessionCookie(c.req.raw, basePath) } }
    }),
  )
  for (const [path, methods] of methodsByPath()) {
    const allow = methods.join(", ")
    app.all(path, (c) =>
      respond(c.req.raw, () => {
        const error = new CarillonError("METHOD_NOT_ALLOWED", `This path takes ${allow}.`)
        return Promise.reject(error)
      }).then((response) => withHeader(response, "Allow", allow)),
    )
  }
  app.notFound(async (c) => {
    const { raw: request, path } = c.req
    return (
      (await pageOf(request)) ??
      respond(request, () => Promise.reject(new CarillonError("NOT_FOUND", `There is no ${path}.`)))
    )
  })

  /** It is the same for every caller, so it is written once. */
  function documentation(): Promise<Documentation> {
    documented ??= createDocumentation(ROUTES)
    return documented
  }

  /** What the dashboard answers below the base path, except for the paths of the API. */
  async function pageOf(request: Request): Promise<Response | undefined> {
    // The router takes the slash at the end away, and relative addresses depend on it.
    const path = new URL(request.url).pathname
    if (!options.dashboard || !isOwnHost(request, options) || !path.startsWith(basePath)) return undefined
    const below = path.slice(basePath.length)
    if (below === "") return new Response(null, { status: 308, headers: { Location: `${basePath}/` } })
    if (!below.startsWith("/") || below.startsWith("/api/")) return undefined
    dashboard ??= loadDashboard()
    return (await dashboard)?.answer(below, request)
  }

  return async (request: Request, info: RequestInfo): Promise<Response> => app.fetch(request, { info })

  /** The path of a route in the words of the router. */
  function pathOf({ path }: Route): string {
    return `${basePath}/api/v1${path.replaceAll(/\{(\w+)\}/g, ":$1")}`
  }

  function methodsByPath(): Map<string, string[]> {
    const methods = new Map<string, string[]>()
    for (const route of ROUTES) {
      const path = pathOf(route)
      methods.set(path, [...(methods.get(path) ?? []), route.method.toUpperCase()])
    }
    return methods
  }
}

/** The body of a request without a route. */
function readAs<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = parse(schema, body ?? {})
  if (parsed.faults) throw new OptionsError("this request", parsed.faults)
  return parsed.value
}

/** A parameter that is there once is a text, one that is repeated a list. */
function queryOf(url: string): RawRequest["query"] {
  const query = new URL(url).searchParams
  return Object.fromEntries(
    [...new Set(query.keys())].map((key) => {
      const values = query.getAll(key)
      return [key, values.length === 1 ? (values[0] ?? "") : values]
    }),
  )
}

/** The id that a caller gave the request, if it is safe to repeat. */
function requestIdOf(request: Request): string | undefined {
  const given = request.headers.get("X-Request-Id")
  return given !== null && /^[\w.:-]{1,100}$/.test(given) ? given : undefined
}

/** Nothing of the API is for caches, frames or scripts of other sites. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const

function writeAnswer({ status, body, page, headers }: Answer, requestId: string): Response {
  const all = { ...HEADERS, "X-Request-Id": requestId, ...headers }
  if (page !== undefined) {
    return new Response(page, { status, headers: { ...all, "Content-Type": "text/html; charset=utf-8" } })
  }
  if (body === undefined) return new Response(null, { status, headers: all })
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...all, "Content-Type": "application/json" },
  })
}

function writeProblem(problem: Problem): Response {
  const { code, status, requestId, retryable } = problem
  const headers = {
    ...HEADERS,
    "Content-Type": "application/problem+json",
    "X-Request-Id": requestId,
    ...(retryable && { "Retry-After": code === "TOKEN_FAILURES" ? FAILURES_RETRY_AFTER_S : RETRY_AFTER_S }),
    ...(status === UNAUTHENTICATED && { "WWW-Authenticate": "Bearer" }),
  }
  return new Response(JSON.stringify(problem), { status, headers })
}

function withHeader(response: Response, name: string, value: string): Response {
  response.headers.set(name, value)
  return response
}

/** Names the request, so that the line is found by the id that the client has. */
function failureLine({ requestId }: Problem, error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return JSON.stringify({ level: "error", event: "http.failed", requestId, error: text })
}
