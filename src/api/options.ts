/** The options of `createCarillon` and `stop`: what users write, the checks, and the resolved values. */
import { DEFAULTS } from "../defaults.ts"
import { OptionsError } from "../errors.ts"
import { type AnyJob, isJob } from "../job/define.ts"
import { poolNameCheck } from "../job/options.ts"
import type { Logger } from "../observe/logger.ts"
import type { DeclaredSchedules } from "../operations/schedules/declare.ts"
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
  oneOf,
  optional,
  record,
  satisfies,
} from "../options/check.ts"
import { nearest } from "../options/nearest.ts"
import type { GrowthAlarm } from "../queue/growth-alarm.ts"
import { FEWEST_CONNECTIONS } from "../store/server/share.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { wordsCheck } from "./actor.ts"
import { jobValueCheck } from "./assert-job.ts"
import { type DeclaredSchedule, readSchedules } from "./schedules/declared.ts"

/** The options of `createCarillon`. */
export interface CarillonOptions {
  /**
   * The database that holds the data.
   *
   * - a URL (`"postgres://user:password@host/database"`): that PostgreSQL server, version 14 or newer.
   * - `"memory"`: PGlite inside this process, for tests. The data is gone when the process ends.
   * - `"pglite"`: PGlite inside this process, with its data in `dataDir`. It serves one process. The data survives the
   *   death of the process, but not a power loss.
   * - nothing: the embedded server, a real PostgreSQL that Carillon starts, owns and stops. On platforms without
   *   PostgreSQL binaries (musl, Windows, rare CPUs), `"pglite"`, with a warning.
   *
   * @default the embedded server
   */
  readonly database?: string | undefined
  /**
   * The PostgreSQL schema that holds Carillon's tables. Different schemas in one database are independent systems.
   *
   * @default "carillon"
   */
  readonly schema?: string
  /**
   * The data folder of the embedded server or of PGlite. Has no effect if `database` is a URL or `"memory"`.
   *
   * @default ".carillon"
   */
  readonly dataDir?: string
  /**
   * The jobs that this process can execute, made by `defineJob`.
   *
   * @default none: the process executes no runs
   */
  readonly jobs?: readonly AnyJob[]
  /**
   * The schedules that your code declares, made by `defineSchedule`. A start creates new schedules, changes schedules
   * that differ, and retires schedules that your code no longer declares. It leaves equal schedules and their progress
   * alone. `[]` declares none and retires all. Without this option a start compares nothing, for example in a process
   * that only enqueues.
   *
   * @default nothing is compared
   */
  readonly schedules?: readonly DeclaredSchedule[]
  /**
   * What a start does with a schedule that your code no longer declares. Its runs and the ledger of its occurrences
   * stay in both cases.
   *
   * - `"retire"`: the schedule makes no more runs, and continues when your code declares it again.
   * - `"delete"`: the schedule is deleted.
   *
   * @default "retire"
   */
  readonly removedSchedules?: "retire" | "delete"
  /**
   * The name of your program. Give it if several programs, or processes with different `schedules`, share a schema:
   * each program then retires only its own schedules.
   *
   * @default no name
   */
  readonly application?: string
  /**
   * The actor in the audit for calls that name none: a service, a script or a person.
   *
   * @default the user, the host and the process id, as in `"deploy@web-3:4711"`
   */
  readonly actor?: string
  /**
   * The pools that this process serves, each with its number of slots: the runs that it executes at once. Other
   * processes execute the jobs of other pools.
   *
   * @default every pool of the `jobs`, with 10 slots each
   */
  readonly pools?: Readonly<Record<string, number>>
  /**
   * What this process does after `start`, beside the upkeep that every process shares.
   *
   * - `"worker"`: it executes runs in its pools.
   * - `"scheduler"`: it makes runs of due occurrences. At least one process must do it.
   *
   * @default both
   */
  readonly roles?: readonly ("worker" | "scheduler")[]
  /**
   * How long this process may be silent before other processes take its runs. A shorter lease recovers faster from a
   * crash. A longer lease tolerates longer pauses of the process and the database.
   *
   * @default "60s"
   */
  readonly lease?: Duration
  /**
   * How long a handler may continue after its attempt has timed out, was cancelled or lost its lease. After that the
   * handler is stuck: its slot is lost until it returns, and its run continues without it, possibly in this process.
   *
   * @default "30s"
   */
  readonly overrunGrace?: Duration
  /**
   * What this process does when stuck handlers hold all slots of a pool.
   *
   * - `"report"`: it emits an event, writes a log line, and continues with its other pools.
   * - `"exit"`: it also stops, gives back its other runs, and ends with exit code 1, so that a supervisor restarts it.
   *
   * @default "report"
   */
  readonly onStuck?: "exit" | "report"
  /**
   * The version of your code, as in `"2.3.1"`. Attempts and workers show it. A process with an older version never
   * overwrites the jobs and schedules that a newer version has declared.
   *
   * @default no version
   */
  readonly version?: string
  /**
   * Whether processes wake each other with NOTIFY when runs become ready. Without it, and behind poolers that do not
   * support LISTEN, other processes find the runs by polling: within a second, or within five after idle times.
   *
   * @default true
   */
  readonly wakeups?: boolean
  /** How many database connections this process may hold. Has no effect on PGlite. */
  readonly connections?: ConnectionOptions
  /**
   * When dead letters count as growing: at least so many runs died within this time and are still dead letters. One
   * process then emits the event `dead-letters.growing` and logs an error. Give all processes the same values. `false`
   * turns the alarm off.
   *
   * @default on, with the defaults of its options
   */
  readonly deadLetterAlarm?: false | DeadLetterAlarm
  /**
   * Receives one line for each event: any object with the methods `debug`, `info`, `warn` and `error`. A logger like
   * pino also receives fields.
   *
   * @default lines for operators on stderr: readable on a terminal, one JSON object per line elsewhere
   */
  readonly logger?: Logger
}

/** How many connections this process holds. */
export interface ConnectionOptions {
  /**
   * The most connections that this process holds at once, 2 or more.
   *
   * - 2: one for heartbeats and settles, and one for claims and enqueues. The event loop renews the lease, polling
   * finds ready runs, and an open `ctx.transaction` delays the claims and enqueues of this process.
   * - 3: a thread renews the lease with its own connection.
   * - 4: one connection listens for wake-ups.
   * - 5 or more: transactions of handlers have their own connections.
   *
   * @default 22; an idle process holds about five
   */
  readonly max?: number
}

/** When dead letters count as growing. */
export interface DeadLetterAlarm {
  /**
   * How many runs must die to raise the alarm. It ends when fewer than half as many have died.
   *
   * @default 100
   */
  readonly atLeast?: number
  /**
   * The time in which they must die.
   *
   * @default "1h"
   */
  readonly within?: Duration
}

/** The options of `stop`. */
export interface StopOptions {
  /**
   * How long handlers may take to finish. After that, Carillon aborts them and gives back their runs.
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
  /** Empty if it is no worker. */
  readonly pools: ReadonlyMap<string, number>
  readonly isWorker: boolean
  readonly isScheduler: boolean
  readonly leaseMs: number
  readonly renewEveryMs: number
  readonly overrunGraceMs: number
  readonly onStuck: "exit" | "report"
  readonly version: string | undefined
  readonly actor: string | undefined
  readonly schedules: DeclaredSchedules | undefined
  readonly wakeups: boolean
  readonly maxConnections: number | undefined
  readonly logger: Logger | undefined
  readonly growth: GrowthAlarm | undefined
}

/** PostgreSQL truncates longer names without an error. */
const IDENTIFIER_BYTES = 63

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

/** The message never repeats the value, because it may hold a password. */
const databaseCheck: Check = (value, path) => {
  if (value === "memory" || value === "pglite") return []
  if (typeof value === "string" && isServerUrl(value)) return []
  const message =
    'expected "memory", "pglite" or a URL like "postgres://user:password@host:5432/database", ' +
    "in which special characters of the password are percent-encoded"
  return [{ path, message }]
}

/** The count of new dead letters stops here. */
const MOST_DEAD = 10_000

const alarmCheck = object({
  atLeast: optional(integer({ min: 1, max: MOST_DEAD })),
  within: optional(duration({ min: 1_000, max: 30 * 86_400_000 })),
})

/** The checks of the options, each by itself. */
export const carillonShape = {
  database: optional(databaseCheck),
  schema: optional(schemaCheck),
  dataDir: optional(
    satisfies("a folder", (value) => typeof value === "string" && value !== "" && !value.includes("\0")),
  ),
  jobs: optional(array(jobValueCheck)),
  pools: optional(record(poolNameCheck, integer({ min: 1, max: 10_000 }))),
  roles: optional(array(oneOf("worker", "scheduler"))),
  lease: optional(duration({ min: 1_000, max: 86_400_000 })),
  overrunGrace: optional(duration({ min: 0, max: 86_400_000 })),
  onStuck: optional(oneOf("exit", "report")),
  schedules: () => [],
  removedSchedules: optional(oneOf("retire", "delete")),
  actor: optional(wordsCheck),
  application: optional(satisfies("a text of 1 to 100 characters", isShortText)),
  version: optional(satisfies("a text of 1 to 100 characters", isShortText)),
  wakeups: optional(satisfies("true or false", (value) => typeof value === "boolean")),
  connections: optional(object({ max: optional(integer({ min: FEWEST_CONNECTIONS, max: 1_000 })) })),
  deadLetterAlarm: optional((value, path) => (value === false ? [] : alarmCheck(value, path))),
  logger: optional(
    satisfies("an object with the methods debug, info, warn and error", (value) =>
      ["debug", "info", "warn", "error"].every(
        (level) => callable((value as Record<string, unknown> | null)?.[level], level).length === 0,
      ),
    ),
  ),
} as const satisfies Readonly<Record<string, Check>>

const carillonCheck = object(carillonShape)

const stopCheck = object({ grace: optional(duration()) })

export function resolveOptions(options: CarillonOptions): ResolvedOptions {
  const { definitions, faults } = readSchedules((options as CarillonOptions | undefined)?.schedules)
  assertOptions("createCarillon", options, (value, path) => [
    ...carillonCheck(value, path),
    ...faults,
    ...findDuplicates((value as CarillonOptions | undefined)?.jobs),
    ...findMisspeltPools(value as CarillonOptions | undefined),
  ])
  const jobs = options.jobs ?? []
  const pools = options.pools ?? Object.fromEntries(jobs.map(({ pool }) => [pool, DEFAULTS.slots]))
  const isWorker = options.roles?.includes("worker") ?? true
  const leaseMs = parseDuration(options.lease) ?? DEFAULTS.leaseMs
  return {
    database: options.database,
    schema: options.schema ?? DEFAULTS.schema,
    dataDir: options.dataDir,
    jobs: new Map(jobs.map((job) => [job.name, job])),
    pools: new Map(isWorker ? Object.entries(pools) : []),
    isWorker,
    isScheduler: options.roles?.includes("scheduler") ?? true,
    leaseMs,
    renewEveryMs: Math.min(DEFAULTS.renewEveryMs, Math.floor(leaseMs / 4)),
    overrunGraceMs: parseDuration(options.overrunGrace) ?? DEFAULTS.overrunGraceMs,
    onStuck: options.onStuck ?? DEFAULTS.onStuck,
    version: options.version,
    actor: options.actor,
    schedules: options.schedules && {
      application: options.application ?? "",
      version: options.version ?? null,
      removed: options.removedSchedules ?? DEFAULTS.removedSchedules,
      definitions,
    },
    wakeups: options.wakeups ?? true,
    maxConnections: options.connections?.max,
    logger: options.logger,
    growth: options.deadLetterAlarm === false ? undefined : growthOf(options.deadLetterAlarm),
  }
}

function growthOf(alarm: DeadLetterAlarm | undefined): GrowthAlarm {
  return {
    atLeast: alarm?.atLeast ?? DEFAULTS.growthAtLeast,
    withinMs: parseDuration(alarm?.within) ?? DEFAULTS.growthWithinMs,
  }
}

export function resolveStop(options: StopOptions): { readonly graceMs: number } {
  assertOptions("stop", options, stopCheck)
  return { graceMs: parseDuration(options.grace) ?? DEFAULTS.graceMs }
}

function isShortText(value: unknown): boolean {
  if (typeof value !== "string" || value.trim() === "" || value.length > 100) return false
  return value.isWellFormed() && !value.includes("\0")
}

/** Refuses two jobs with one name: the name must lead to one handler. */
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

/** Refuses a pool without jobs whose name is almost the name of a pool with jobs. It is probably misspelt. */
function findMisspeltPools(options: CarillonOptions | undefined) {
  if (!Array.isArray(options?.jobs) || !isPlainObject(options?.pools)) return []
  const used = options.jobs.flatMap((job) => (isJob(job) ? [job.pool] : []))
  return Object.keys(options.pools)
    .filter((pool) => !used.includes(pool))
    .flatMap((pool) => {
      const meant = nearest(pool, used)
      const message = `no job runs in this pool; did you mean "${meant}"?`
      return meant ? [{ path: `pools.${pool}`, message }] : []
    })
}

/** The id of a run in the form in which the database writes it. */
export function runIdOf(id: unknown): string {
  if (typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
    return id.toLowerCase()
  throw new OptionsError("this call", [expected("the id of a run", id, "runId")])
}

function isServerUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || text.includes("#")) return false
  try {
    // The driver reads a missing host as the local socket. The URL parser needs a host.
    return new URL(text.replace(/^(postgres(?:ql)?:\/\/)(\/|$)/, "$1localhost$2")).protocol !== ""
  } catch {
    return false
  }
}
