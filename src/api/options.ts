/** The options of `createCarillon` and its calls: what users write, how it is checked, and what it becomes. */
import { DEFAULTS } from "../defaults.ts"
import { type AnyJob, isJob } from "../job/define.ts"
import { poolNameCheck, priorityCheck } from "../job/options.ts"
import type { Logger } from "../observe/log.ts"
import {
  array,
  assertOptions,
  type Check,
  callable,
  date,
  duration,
  expected,
  integer,
  object,
  optional,
  record,
  satisfies,
} from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import type { DateValue } from "../time/instant.ts"

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
   * The pools that this process serves, each with the number of runs it executes at once.
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
  /** Receives what is worth telling. @default warnings and errors go to the terminal */
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

/** PostgreSQL cuts longer names off in silence. */
const IDENTIFIER_BYTES = 63

const schemaCheck = satisfies(
  `a schema name of 1 to ${IDENTIFIER_BYTES} bytes that does not begin with "pg_"`,
  (value) =>
    typeof value === "string" &&
    value !== "" &&
    !value.includes("\0") &&
    !value.startsWith("pg_") &&
    new TextEncoder().encode(value).length <= IDENTIFIER_BYTES,
)

const carillonCheck = object({
  database: optional(
    satisfies(
      'a URL that begins with "postgres://" or "postgresql://", or "memory"',
      (value) => typeof value === "string" && (value === "memory" || /^postgres(ql)?:\/\//.test(value)),
    ),
  ),
  schema: optional(schemaCheck),
  dataDir: optional(satisfies("a folder", (value) => typeof value === "string" && value !== "")),
  jobs: optional(array(satisfies("a job made by defineJob", isJob))),
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

const enqueueCheck: Check = (value, path) => [
  ...object({
    delay: optional(duration()),
    runAt: optional(date),
    priority: optional(priorityCheck),
  })(value, path),
  ...(isBoth(value) ? [expected("either `delay` or `runAt`, not both", value, "delay")] : []),
]

const stopCheck = object({ grace: optional(duration()) })

export function resolveOptions(options: CarillonOptions): ResolvedOptions {
  assertOptions("createCarillon", options, (value, path) => [
    ...carillonCheck(value, path),
    ...findDuplicates((value as CarillonOptions | undefined)?.jobs),
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

function isBoth(value: unknown): boolean {
  const { delay, runAt } = (value ?? {}) as EnqueueOptions
  return delay !== undefined && runAt !== undefined
}
