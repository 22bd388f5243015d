/** The file of configuration: `defineConfig`, what may be in it, and its checks. */
import {
  array,
  assertOptions,
  duration,
  integer,
  object,
  oneOf,
  optional,
  satisfies,
} from "../options/check.ts"
import type { Duration } from "../time/duration.ts"
import { type CarillonOptions, carillonShape } from "./options.ts"

/**
 * What `carillon.config.ts` exports: the options of `createCarillon`, and how `carillon dev` and `carillon start` serve
 * them. Flags and environment variables go before it.
 */
export interface CarillonConfig extends Omit<CarillonOptions, "roles"> {
  /**
   * What a process of `carillon start` does: answer HTTP requests (`"api"`), execute runs (`"worker"`), make runs of
   * schedules (`"scheduler"`).
   *
   * @default all three
   */
  readonly roles?: readonly ("api" | "worker" | "scheduler")[]
  /** How the process answers HTTP requests. */
  readonly http?: HttpConfig
  /**
   * How long handlers may take to finish when the process is told to end. After that, Carillon aborts them and gives
   * back their runs.
   *
   * @default "30s"
   */
  readonly grace?: Duration
}

/** How a process answers HTTP requests. */
export interface HttpConfig {
  /**
   * The address to listen on. Only this machine can reach a loopback address. Any other needs authentication.
   *
   * @default "127.0.0.1"
   */
  readonly host?: string
  /**
   * The port to listen on. 0 takes a free one.
   *
   * @default 7117
   */
  readonly port?: number
  /**
   * The path below which everything is served, as in `"/carillon"`, for a proxy that passes it on.
   *
   * @default no path
   */
  readonly basePath?: string
  /**
   * The names under which people reach the server, without ports, as in `"jobs.example.com"`. The server refuses
   * requests for other names.
   *
   * @default any name with `carillon start`, and loopback names with `carillon dev`
   */
  readonly allowedHosts?: readonly string[]
  /**
   * How long the process goes on listening after it is told to end. Balancers then notice in time that it is not ready.
   *
   * @default no time
   */
  readonly drainFor?: Duration
}

const configCheck = object({
  ...carillonShape,
  roles: optional(array(oneOf("api", "worker", "scheduler"))),
  http: optional(
    object({
      host: optional(satisfies("an address", (value) => typeof value === "string" && value !== "")),
      port: optional(integer({ min: 0, max: 65_535 })),
      basePath: optional(
        satisfies('a path like "/carillon"', (value) => typeof value === "string" && isBasePath(value)),
      ),
      allowedHosts: optional(
        array(satisfies("the name of a host", (value) => typeof value === "string" && isHost(value))),
      ),
      drainFor: optional(duration()),
    }),
  ),
  grace: optional(duration()),
})

/**
 * Types the file of configuration. It checks nothing: the command that reads the file reports all faults together.
 *
 * @example
 * export default defineConfig({ jobs: [sendEmail], schedules: [nightly], pools: { mail: 5 } })
 */
export function defineConfig(config: CarillonConfig): CarillonConfig {
  return config
}

/** Checks what the file exports. `path` names it in the error. */
export function assertConfig(path: string, config: unknown): asserts config is CarillonConfig {
  assertOptions(path, config, configCheck)
}

/** Begins with a slash, does not end in one, and holds nothing that a browser would change. */
export function isBasePath(path: string): boolean {
  return /^(\/[\w.~-]+)*$/.test(path) && !/\/\.{1,2}(\/|$)/.test(path)
}

/** A name or an address, without a port. */
export function isHost(name: string): boolean {
  return /^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(name)
}
