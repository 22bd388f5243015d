/** Calls the HTTP handler of a test app as a client would, without a socket. */
import type { Carillon } from "../../src/api/carillon.ts"
import { createHttp, type Http } from "../../src/http/create-http.ts"
import type { HttpOptions } from "../../src/http/options.ts"

/** What a client sees of an answer. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown
}

export interface HttpCalls {
  readonly http: Http
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<HttpAnswer>
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<HttpAnswer>
}

const ADDRESS = "192.0.2.1"

export function httpOf(app: object, options: HttpOptions = { access: "open" }): HttpCalls {
  // A test app has every call that the handler makes.
  const http = createHttp(app as Carillon, options)
  const send: HttpCalls["send"] = async (method, path, body, headers = {}) => {
    const request = new Request(`http://localhost:7117${path}`, {
      method,
      headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
    const response = await http.fetch(request, { address: ADDRESS })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  }
  return { http, send, get: (path, headers) => send("GET", path, undefined, headers) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
