/** The options of `createCarillon` and its calls: what users write, how it is checked, and what it becomes. */
import { DEFAULTS } from "../defaults.ts"
import { OptionsError } from "../errors.ts"
import { type AnyJob, isJob } from "../job/define.ts"
import { poolNameCheck, priorityCheck } from "../job/options.ts"
import type { Logger } from "../observe/log.ts"
import {
  array,
  assertOptions,
  type Check,
  callable,
  duration,
  expected,
  integer,
  isPlainObject,
  object,
  optional,
  record,
  satisfies,
} from "../options/check.ts"
import { nearest } from "../options/nearest.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { type DateValue, isDate } from "../time/instant.ts"

export interface CarillonOptions {
  /**
   * Where the data lives.
   *
   * - a URL (`"postgres://user:password@host/database"`): that PostgreSQL server, version 14 or newer.
   * - `"memory"`: PGlite inside this process. For tests: everything is gone when it ends.
   * - nothing: the embedded server, a real PostgreSQL that Carillon starts, owns and stops.
   */
  readonly database?: string | undefined
  /**
   * The PostgreSQL schema that holds Carillon's tables. Systems with different schemas share a database
   * without knowing of each other.
   *
   * @default "carillon"
   */
  readonly schema?: string
  /**
   * The folder of the embedded server. Without effect when `database` is given.
   *
   * @default ".carillon"
   */
  readonly dataDir?: string
  /** The jobs that this process can execute, as `defineJob` made them. */
  readonly jobs?: readonly AnyJob[]
  /**
   * The pools that this process serves, each with the number of runs it executes at once. Jobs of other pools are
   * left to other processes.
   *
   * @default every pool that one of the `jobs` names, with 10 slots each
   */
  readonly pools?: Readonly<Record<string, number>>
  /**
   * How long this process may be silent before its runs are given to others. Shorter ones recover faster from
   * a crash; longer ones forgive longer pauses of the process and the database.
   *
   * @default "60s"
   */
  readonly lease?: Duration
  /** Receives what is worth telling. @default what matters to operators goes to the terminal, on stderr */
  readonly logger?: Logger
}

export interface EnqueueOptions {
  /** How long the run waits before it is due. */
  readonly delay?: Duration
  /** When the run is due. Give this or `delay`. */
  readonly runAt?: DateValue
  /** Overrides the priority of the job: higher goes first. */
  readonly priority?: number
}

export interface StopOptions {
  /**
   * How long handlers may take to finish before they are aborted and their runs given back.
   *
   * @default "30s"
   */
  readonly grace?: Duration
}

/** `CarillonOptions` with every default filled in. */
export interface ResolvedOptions {
  readonly database: string | undefined
  readonly schema: string
  readonly dataDir: string | undefined
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly pools: ReadonlyMap<string, number>
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly logger: Logger | undefined
}

/** The end of the year 9999. */
const LAST_INSTANT_MS = 253_402_300_800_000

/** PostgreSQL cuts longer names off in silence. */
const IDENTIFIER_BYTES = 63

const jobValueCheck = satisfies("a job made by defineJob", isJob)

const schemaCheck = satisfies(
  `a schema name of 1 to ${IDENTIFIER_BYTES} bytes that does not begin with "pg_"`,
  (value) =>
    typeof value === "string" &&
    value !== "" &&
    !value.includes("\0") &&
    !value.startsWith("pg_") &&
    value.isWellFormed() &&
    new TextEncoder().encode(value).length <= IDENTIFIER_BYTES,
)

/** Says nothing about what was given: it may hold a password. */
const databaseCheck: Check = (value, path) => {
  if (value === "memory" || (typeof value === "string" && isServerUrl(value))) return []
  const message =
    'expected "memory" or a URL like "postgres://user:password@host:5432/database", ' +
    "in which special characters of the password are percent-encoded"
  return [{ path, message }]
}

const carillonCheck = object({
  database: optional(databaseCheck),
  schema: optional(schemaCheck),
  dataDir: optional(
    satisfies("a folder", (value) => typeof value === "string" && value !== "" && !value.includes("\0")),
  ),
  jobs: optional(array(jobValueCheck)),
  pools: optional(record(poolNameCheck, integer({ min: 1, max: 10_000 }))),
  lease: optional(duration({ min: 1_000, max: 86_400_000 })),
  logger: optional(
    satisfies("an object with the methods debug, info, warn and error", (value) =>
      ["debug", "info", "warn", "error"].every(
        (level) => callable((value as Record<string, unknown> | null)?.[level], level).length === 0,
      ),
    ),
  ),
})

/** What PostgreSQL and ISO 8601 with four digits agree on. */
const runAtCheck = satisfies(
  "a Date between the years 1970 and 9999",
  (value) => isDate(value) && value.getTime() >= 0 && value.getTime() < LAST_INSTANT_MS,
)

const enqueueCheck: Check = (value, path) => [
  ...object({
    delay: optional(duration()),
    runAt: optional(runAtCheck),
    priority: optional(priorityCheck),
  })(value, path),
  ...(isBoth(value) ? [expected("either `delay` or `runAt`, not both", value, "delay")] : []),
]

const stopCheck = object({ grace: optional(duration()) })

export function resolveOptions(options: CarillonOptions): ResolvedOptions {
  assertOptions("createCarillon", options, (value, path) => [
    ...carillonCheck(value, path),
    ...findDuplicates((value as CarillonOptions | undefined)?.jobs),
    ...findIdlePools(value as CarillonOptions | undefined),
  ])
  const jobs = options.jobs ?? []
  const pools = options.pools ?? Object.fromEntries(jobs.map(({ pool }) => [pool, DEFAULTS.slots]))
  const leaseMs = parseDuration(options.lease) ?? DEFAULTS.leaseMs
  return {
    database: options.database,
    schema: options.schema ?? DEFAULTS.schema,
    dataDir: options.dataDir,
    jobs: new Map(jobs.map((job) => [job.name, job])),
    pools: new Map(Object.entries(pools)),
    leaseMs,
    renewEveryMs: Math.min(DEFAULTS.renewEveryMs, Math.floor(leaseMs / 4)),
    logger: options.logger,
  }
}

export function resolveEnqueue(options: EnqueueOptions): EnqueueOptions & { readonly delayMs: number } {
  assertOptions("enqueue", options, enqueueCheck)
  return { ...options, delayMs: parseDuration(options.delay) ?? 0 }
}

export function resolveStop(options: StopOptions): { readonly graceMs: number } {
  assertOptions("stop", options, stopCheck)
  return { graceMs: parseDuration(options.grace) ?? DEFAULTS.graceMs }
}

/** Two handlers for one name: a run could not know which is meant. */
function findDuplicates(jobs: unknown) {
  if (!Array.isArray(jobs)) return []
  const names = jobs.map((job: unknown) => (isJob(job) ? job.name : undefined))
  return names.flatMap((name, index) =>
    name !== undefined && names.indexOf(name) !== index
      ? [
          {
            path: `jobs[${index}].name`,
            message: `"${name}" is also the name of jobs[${names.indexOf(name)}]`,
          },
        ]
      : [],
  )
}

/** A pool that none of the jobs runs in would sit idle for ever: most likely its name is misspelt. */
function findIdlePools(options: CarillonOptions | undefined) {
  if (!Array.isArray(options?.jobs) || !isPlainObject(options?.pools)) return []
  const used = options.jobs.flatMap((job) => (isJob(job) ? [job.pool] : []))
  return Object.keys(options.pools)
    .filter((pool) => !used.includes(pool))
    .map((pool) => {
      const meant = nearest(pool, used)
      return {
        path: `pools.${pool}`,
        message: `no job runs in this pool${meant ? `; did you mean "${meant}"?` : ""}`,
      }
    })
}

/** Throws unless `job` was made by `defineJob`. */
export function assertJob(job: unknown): void {
  assertOptions("enqueue", { job }, object({ job: jobValueCheck }))
}

/** The id of a run as the database writes it. */
export function runIdOf(id: unknown): string {
  if (typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
    return id.toLowerCase()
  throw new OptionsError("this call", [expected("the id of a run", id, "runId")])
}

function isServerUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || text.includes("#")) return false
  try {
    // The driver reads a missing host as the local socket; for the parser it has to be there.
    return new URL(text.replace(/^(postgres(?:ql)?:\/\/)(\/|$)/, "$1localhost$2")).protocol !== ""
  } catch {
    return false
  }
}

function isBoth(value: unknown): boolean {
  const { delay, runAt } = (value ?? {}) as EnqueueOptions
  return delay !== undefined && runAt !== undefined
}
