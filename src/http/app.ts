/** The handler: finds the route of a request, reads it, and writes the answer. */
import { OpenAPIHono } from "@hono/zod-openapi"
import type { Carillon } from "../api/carillon.ts"
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import { assertMay, callerOf } from "./access.ts"
import { readBody } from "./body.ts"
import { loadDashboard } from "./dashboard.ts"
import { guarded, isForThisHost } from "./guards.ts"
import type { ResolvedHttp } from "./options.ts"
import { type Problem, problemOf } from "./problem.ts"
import type { RequestInfo } from "./request-info.ts"
import { type Answer, ok, type RawRequest, type Route } from "./route.ts"
import { ROUTES } from "./routes.ts"

export interface AppParts {
  readonly host: Host
  readonly carillon: Carillon
  readonly options: ResolvedHttp
  readonly isDraining: () => boolean
}

/** How long `/readyz` waits for the database. */
const READY_WITHIN = "2s"
const RETRY_AFTER_S = "1"

export function createApp({ host, carillon, options, isDraining }: AppParts) {
  const { basePath } = options
  const app = new OpenAPIHono({ strict: false })
  let dashboard: ReturnType<typeof loadDashboard> | undefined

  /** Runs the work of a route, and answers what it throws as a problem. */
  async function respond(request: Request, work: () => Promise<Answer>): Promise<Response> {
    const requestId = requestIdOf(request) ?? host.newId()
    try {
      guarded(request, options)
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
  for (const route of ROUTES) {
    app.on(route.method.toUpperCase(), pathOf(route), (c) =>
      respond(c.req.raw, async () => {
        const { headers, signal } = c.req.raw
        const caller = callerOf(c.req.raw)
        assertMay(caller, route)
        const body = route.body && (await readBody(c.req.raw, route.bodyBytes))
        const raw: RawRequest = { params: c.req.param(), query: queryOf(c.req.url), body }
        const { environment } = options
        return route.answer(raw, { carillon, caller, headers, signal, environment })
      }),
    )
  }
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

  /** What the dashboard answers below the base path, except for the paths of the API. */
  async function pageOf(request: Request): Promise<Response | undefined> {
    // The router takes the slash at the end away, and relative addresses depend on it.
    const path = new URL(request.url).pathname
    if (!options.dashboard || !isForThisHost(request, options) || !path.startsWith(basePath)) return undefined
    const below = path.slice(basePath.length)
    if (below === "") return new Response(null, { status: 308, headers: { Location: `${basePath}/` } })
    if (!below.startsWith("/") || below.startsWith("/api/")) return undefined
    dashboard ??= loadDashboard()
    return (await dashboard)?.answer(below, request)
  }

  return async (request: Request, _info: RequestInfo): Promise<Response> => app.fetch(request)

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

function writeAnswer({ status, body, headers }: Answer, requestId: string): Response {
  const all = { ...HEADERS, "X-Request-Id": requestId, ...headers }
  if (body === undefined) return new Response(null, { status, headers: all })
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...all, "Content-Type": "application/json" },
  })
}

function writeProblem(problem: Problem): Response {
  const { status, requestId, retryable } = problem
  const headers = {
    ...HEADERS,
    "Content-Type": "application/problem+json",
    "X-Request-Id": requestId,
    ...(retryable && { "Retry-After": RETRY_AFTER_S }),
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
