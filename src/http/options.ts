/** The options of `createHttp`, and their checks. */
import { array, assertOptions, object, oneOf, optional, satisfies } from "../options/check.ts"
import type { Environment } from "./route.ts"

/** The options of `createHttp`. */
export interface HttpOptions {
  /**
   * The path under which all routes are, as in `/jobs`.
   *
   * @default none: the routes are at `/api/v1`
   */
  readonly basePath?: string
  /**
   * Who may call.
   *
   * - `"tokens"`: callers with a token of `carillon.tokens`, each as far as its scopes and its tenant go.
   * - `"open"`: every process of this machine, for everything. The handler answers only requests for this machine by
   * its own names, such as `localhost`, and none that a browser sends for another website.
   *
   * @default "tokens"
   */
  readonly access?: "tokens" | "open"
  /**
   * The names of this server, as the `Host` header has them, without ports. Requests for other names are refused.
   *
   * @default any name with tokens, and the names of the loopback address with open access
   */
  readonly hosts?: readonly string[]
  /**
   * Whether the dashboard is at the base path.
   *
   * @default true
   */
  readonly dashboard?: boolean
  /**
   * Where this server runs. The dashboard shows it, so that people do not mistake one server for another.
   *
   * @default "development"
   */
  readonly environment?: "production" | "staging" | "development"
}

/** The options, with every default. */
export interface ResolvedHttp {
  readonly basePath: string
  readonly access: "tokens" | "open"
  /** Undefined for any. */
  readonly hosts: ReadonlySet<string> | undefined
  readonly dashboard: boolean
  readonly environment: Environment
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]

const check = object({
  basePath: optional(
    satisfies(
      'a path like "/jobs", without a slash at its end',
      (value) => typeof value === "string" && /^(\/[\w.~-]+)*$/.test(value),
    ),
  ),
  access: optional(oneOf("tokens", "open")),
  hosts: optional(
    array(
      satisfies(
        'the name of a host, like "jobs.example.com"',
        (value) => typeof value === "string" && /^[\w.-]+$|^\[[\da-fA-F:.]+\]$/.test(value),
      ),
    ),
  ),
  dashboard: optional(satisfies("true or false", (value) => typeof value === "boolean")),
  environment: optional(oneOf("production", "staging", "development")),
})

export function resolveHttp(options: HttpOptions): ResolvedHttp {
  assertOptions("createHttp", options, check)
  const { basePath = "", access = "tokens", hosts, dashboard = true, environment = "development" } = options
  const own = hosts?.map((host) => host.toLowerCase())
  return { basePath, access, dashboard, environment, hosts: hostsOf(access, own) }
}

/** Without tokens, the name is what tells this machine from a website. */
function hostsOf(access: ResolvedHttp["access"], own: readonly string[] | undefined) {
  if (access === "open") return new Set([...LOOPBACK, ...(own ?? [])])
  return own && new Set(own)
}
