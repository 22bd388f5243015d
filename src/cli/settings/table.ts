/**
 * Every setting of a process that the command line starts, in one place.
 *
 * `--help`, `carillon config` and docs/reference/settings.md are made from this table. A setting comes from its flag,
 * else from its variable, else from the file of configuration, else from its default.
 */
import { isBasePath, isHost } from "../../api/config.ts"
import { DEFAULTS } from "../../defaults.ts"
import { nearest } from "../../options/nearest.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"

export interface Setting<Value = unknown> {
  readonly about: string
  /** The flag, as in `--port`. */
  readonly flag?: string
  /** The name of the value of the flag in the help. */
  readonly value?: string
  /** The flag may be given several times. */
  readonly isRepeated?: true
  readonly variable: string
  /** Its place in the file of configuration, as in `http.port`. */
  readonly inFile?: string
  readonly default: Value | undefined
  /** The default in words. Empty if there is none. */
  readonly shownDefault: string
  /** Its password is never shown. The variable with `_FILE` behind its name names a file that holds the value. */
  readonly hasPassword?: true
  /** Reads a text of the command line or the environment. Returns what was expected if it cannot. */
  readonly parse: (text: string) => Parsed<Value>
}

export type Parsed<Value> = { readonly value: Value } | { readonly expected: string }

export type Role = "api" | "worker" | "scheduler"

const ROLES: readonly Role[] = ["api", "worker", "scheduler"]
const HIGHEST_PORT = 65_535

const text = (value: string) => ({ value })
const split = (value: string) => value.split(",").map((part) => part.trim())

export const SETTINGS = {
  config: {
    about: "the file of configuration",
    flag: "--config",
    value: "FILE",
    variable: "CARILLON_CONFIG",
    default: undefined,
    shownDefault: "carillon.config.ts, .js or .mjs",
    parse: text,
  },
  database: {
    about: "the server, as in postgres://user:password@host/database",
    flag: "--database",
    value: "URL",
    variable: "CARILLON_DATABASE_URL",
    inFile: "database",
    default: undefined,
    shownDefault: "the embedded server",
    hasPassword: true,
    parse: text,
  },
  schema: {
    about: "the schema of Carillon's tables",
    flag: "--schema",
    value: "NAME",
    variable: "CARILLON_SCHEMA",
    inFile: "schema",
    default: undefined,
    shownDefault: DEFAULTS.schema,
    parse: text,
  },
  dataDir: {
    about: "the data folder of the embedded server",
    flag: "--data-dir",
    value: "FOLDER",
    variable: "CARILLON_DATA_DIR",
    inFile: "dataDir",
    default: undefined,
    shownDefault: DEFAULTS.dataDir,
    parse: text,
  },
  host: {
    about: "the address to listen on",
    flag: "--host",
    value: "ADDRESS",
    variable: "CARILLON_HOST",
    inFile: "http.host",
    default: DEFAULTS.httpHost,
    shownDefault: DEFAULTS.httpHost,
    parse: text,
  },
  port: {
    about: "the port to listen on; 0 takes a free one",
    flag: "--port",
    value: "PORT",
    variable: "CARILLON_PORT",
    inFile: "http.port",
    default: DEFAULTS.httpPort as number,
    shownDefault: String(DEFAULTS.httpPort),
    parse: (value): Parsed<number> =>
      /^\d{1,5}$/.test(value) && Number(value) <= HIGHEST_PORT
        ? { value: Number(value) }
        : { expected: `a port from 0 to ${HIGHEST_PORT}` },
  },
  basePath: {
    about: "the path below which everything is served, as in /carillon",
    flag: "--base-path",
    value: "PATH",
    variable: "CARILLON_BASE_PATH",
    inFile: "http.basePath",
    default: "",
    shownDefault: "",
    parse: (value): Parsed<string> => {
      const path = value === "/" ? "" : value
      return isBasePath(path) ? { value: path } : { expected: 'a path like "/carillon"' }
    },
  },
  allowedHosts: {
    about: "the names under which people reach the server, with commas between them",
    flag: "--allowed-hosts",
    value: "NAMES",
    variable: "CARILLON_ALLOWED_HOSTS",
    inFile: "http.allowedHosts",
    default: undefined,
    shownDefault: "any in start, loopback names in dev",
    parse: (value): Parsed<readonly string[]> =>
      split(value).every(isHost) ? { value: split(value) } : { expected: "names of hosts" },
  },
  roles: {
    about: "what the process does: api, worker, scheduler, with commas between them",
    flag: "--roles",
    value: "ROLES",
    variable: "CARILLON_ROLES",
    inFile: "roles",
    default: ROLES,
    shownDefault: ROLES.join(","),
    parse: parseRoles,
  },
  pools: {
    about: "the slots of a pool, as in mail=5; one flag for each pool that the process serves",
    flag: "--pool",
    value: "NAME=SLOTS",
    isRepeated: true,
    variable: "CARILLON_POOLS",
    inFile: "pools",
    default: undefined,
    shownDefault: `all pools of the jobs, ${DEFAULTS.slots} slots each`,
    parse: parsePools,
  },
  application: {
    about: "the name of your program, if several share a schema",
    flag: "--application",
    value: "NAME",
    variable: "CARILLON_APPLICATION",
    inFile: "application",
    default: undefined,
    shownDefault: "",
    parse: text,
  },
  codeVersion: {
    about: "the version of your code, as in 2.3.1",
    flag: "--code-version",
    value: "VERSION",
    variable: "CARILLON_CODE_VERSION",
    inFile: "version",
    default: undefined,
    shownDefault: "",
    parse: text,
  },
  grace: {
    about: "how long handlers may take to finish when the process is told to end",
    flag: "--grace",
    value: "DURATION",
    variable: "CARILLON_GRACE",
    inFile: "grace",
    default: undefined,
    shownDefault: `${DEFAULTS.graceMs / 1_000}s`,
    parse: parseTime,
  },
  drainFor: {
    about: "how long it then goes on listening, so that balancers notice that it is not ready",
    flag: "--drain-for",
    value: "DURATION",
    variable: "CARILLON_DRAIN_FOR",
    inFile: "http.drainFor",
    default: undefined,
    shownDefault: "0s",
    parse: parseTime,
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS

type Table = typeof SETTINGS
/** The type of a setting that is there. */
export type SettingValue<Name extends SettingName> = Extract<
  ReturnType<Table[Name]["parse"]>,
  { readonly value: unknown }
>["value"]

function parseTime(value: string): Parsed<Duration> {
  return parseDuration(value) === undefined
    ? { expected: 'a text like "30s" or "5m"' }
    : { value: value as Duration }
}

function parseRoles(value: string): Parsed<readonly Role[]> {
  const words = split(value)
  const wrong = words.find((word) => !ROLES.includes(word as Role))
  if (wrong === undefined) return { value: words as Role[] }
  const meant = nearest(wrong, ROLES)
  return {
    expected: `${ROLES.join(", ")} with commas between them${meant ? `; did you mean "${meant}"?` : ""}`,
  }
}

function parsePools(value: string): Parsed<Readonly<Record<string, number>>> {
  const pairs = split(value).map((pair) => /^([^=]+)=(\d{1,5})$/.exec(pair))
  if (pairs.includes(null)) return { expected: "pools with their slots, as in mail=5,default=10" }
  return { value: Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1], Number(pair[2])]] : []))) }
}
