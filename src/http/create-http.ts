/** `createHttp`: the API of a Carillon as one fetch-standard handler. Its packages are loaded on first use. */
import type { Carillon } from "../api/carillon.ts"
import { CarillonError } from "../errors.ts"
import type { Host } from "../runtime/host.ts"
import { createSystemHost } from "../runtime/system.ts"
import { type HttpOptions, resolveHttp } from "./options.ts"
import type { RequestInfo } from "./request-info.ts"

/** What `createHttp` returns. */
export interface Http {
  /** Answers a request. It mounts in every server that speaks the fetch standard, and never rejects. */
  readonly fetch: (request: Request, info?: RequestInfo) => Promise<Response>
  /** Loads what the first request would load. Throws `HTTP_PACKAGES_MISSING` if packages are not installed. */
  readonly load: () => Promise<void>
  /** From now on `/readyz` answers that this process is not ready, so that load balancers leave it. */
  readonly drain: () => void
}

/**
 * Creates the HTTP handler of a Carillon. It does no I/O.
 *
 * @example
 * const http = createHttp(carillon, { basePath: "/jobs" })
 * serve({ fetch: (request) => http.fetch(request), port: 7117 })
 */
export function createHttp(carillon: Carillon, options: HttpOptions = {}): Http {
  return createHttpOn(createSystemHost(), carillon, options)
}

/** The same on a host of the caller, such as a test. */
export function createHttpOn(host: Host, carillon: Carillon, options: HttpOptions): Http {
  const resolved = resolveHttp(options)
  let isDraining = false
  let app: Promise<(request: Request, info: RequestInfo) => Promise<Response>> | undefined

  function load() {
    app ??= import("./app.ts").then(
      ({ createApp }) => createApp({ host, carillon, options: resolved, isDraining: () => isDraining }),
      (cause: unknown) => {
        app = undefined
        throw isMissingPackage(cause) ? missingError(cause) : cause
      },
    )
    return app
  }

  return Object.freeze({
    fetch: async (request, info = {}) => {
      const answer = await load().catch((error: unknown) => () => Promise.resolve(loadProblem(error)))
      return answer(request, info)
    },
    load: async () => {
      await load()
    },
    drain: () => {
      isDraining = true
    },
  } satisfies Http)
}

function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND"
}

function missingError(cause: unknown): CarillonError {
  const message =
    "`carillon/http` needs the packages hono, @hono/zod-openapi and zod. " +
    "Run `npm install hono @hono/zod-openapi zod`."
  return new CarillonError("HTTP_PACKAGES_MISSING", message, { cause })
}

/** Without the packages there is no more than this. */
function loadProblem(error: unknown): Response {
  const code = error instanceof CarillonError ? error.code : "INTERNAL"
  const detail = error instanceof CarillonError ? error.message : "The HTTP server could not be loaded."
  const headers = { "Content-Type": "application/problem+json" }
  return new Response(JSON.stringify({ code, status: 500, detail }), { status: 500, headers })
}
