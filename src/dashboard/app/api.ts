/** Speaks to the HTTP API: JSON in and out, and problems as errors. */
import { RequestFailed, readProblem } from "./problem.ts"

export type Params = Readonly<Record<string, string | number | undefined>>

export interface Api {
  readonly get: <T>(path: string, signal?: AbortSignal) => Promise<T>
  readonly send: <T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown) => Promise<T>
  /** The answer as it arrives, for streams and downloads. */
  readonly open: (path: string, accept: string, signal: AbortSignal) => Promise<Response>
  /** The address of a path, for snippets that people copy. */
  readonly address: (path: string) => string
}

export interface ApiParts {
  /** The address of the dashboard, which ends with a slash. */
  readonly base: string
  readonly token: () => string | undefined
  /** Told after each request whether the server answered. */
  readonly onAnswer: (answered: boolean) => void
  readonly onDenied: () => void
}

export function createApi({ base, token, onAnswer, onDenied }: ApiParts): Api {
  const address = (path: string) => new URL(`api/v1${path}`, base).href

  async function call(
    path: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<Response> {
    const bearer = token()
    if (bearer !== undefined) init.headers["authorization"] = `Bearer ${bearer}`
    let response: Response
    try {
      response = await fetch(address(path), { ...init, cache: "no-store" })
    } catch (error) {
      if (!init.signal?.aborted) onAnswer(false)
      throw error
    }
    onAnswer(response.status !== 502 && response.status !== 504)
    if (response.status === 401) onDenied()
    if (!response.ok) throw new RequestFailed(await readProblem(response))
    return response
  }

  return {
    address,
    get: async <T>(path: string, signal?: AbortSignal) => {
      const response = await call(path, {
        headers: { accept: "application/json" },
        ...(signal && { signal }),
      })
      return (await response.json()) as T
    },
    send: async <T>(method: string, path: string, body?: unknown) => {
      const headers: Record<string, string> = { accept: "application/json" }
      if (body !== undefined) {
        headers["content-type"] = method === "PATCH" ? "application/merge-patch+json" : "application/json"
      }
      const response = await call(path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return (text === "" ? undefined : JSON.parse(text)) as T
    },
    open: (path, accept, signal) => call(path, { headers: { accept }, signal }),
  }
}

/** Adds the parameters that have a value. */
export function withParams(path: string, params: Params): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") query.set(name, String(value))
  }
  const text = query.toString()
  return text === "" ? path : `${path}?${text}`
}
