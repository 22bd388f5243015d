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
   * Who may call. `"open"` lets every process of this machine do everything. It answers only requests for this machine
   * by its own names, such as `localhost`, so that websites cannot reach it.
   */
  readonly access: "open"
  /**
   * More names of this server, as the `Host` header has them, without ports.
   *
   * @default the names of the loopback address
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
  readonly hosts: ReadonlySet<string>
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
  access: oneOf("open"),
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
  const { basePath = "", hosts = [], dashboard = true, environment = "development" } = options
  return {
    basePath,
    dashboard,
    environment,
    hosts: new Set([...LOOPBACK, ...hosts.map((host) => host.toLowerCase())]),
  }
}
