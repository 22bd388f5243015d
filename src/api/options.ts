/** The options of `createCarillon` and its calls: what users write, how it is checked, and what it becomes. */
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
   * Where the data lives.
   *
   * - a URL (`"postgres://user:password@host/database"`): that PostgreSQL server, version 14 or newer.
   * - `"memory"`: PGlite inside this process. For tests: everything is gone when it ends.
   * - `"pglite"`: PGlite inside this process, in `dataDir`. It serves one process, and what it holds survives the
   *   death of the process but not a power loss.
   * - nothing: the embedded server, a real PostgreSQL that Carillon starts, owns and stops. Where no PostgreSQL
   *   binaries exist (musl, Windows, a rare CPU), `"pglite"`, with a warning.
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
   * The folder of the embedded server or of PGlite. Without effect when `database` is a URL or `"memory"`.
   *
   * @default ".carillon"
   */
  readonly dataDir?: string
  /** The jobs that this process can execute, as `defineJob` made them. */
  readonly jobs?: readonly AnyJob[]
  /**
   * The schedules that your code declares, as `defineSchedule` made them. A start makes those that are new, changes those
   * that differ, and retires those that your code declared before and does not declare now; one that is as it was is left
   * alone, with how far it has come. `[]` declares none. Without this option nothing is compared, so that a process that
   * only enqueues, say, changes nothing.
   */
  readonly schedules?: readonly DeclaredSchedule[]
  /**
   * What becomes of a schedule that your code declared before and does not declare now: `"retire"` lets it make no more
   * runs and keeps it, so that it goes on when it is declared again; `"delete"` deletes it. Runs and the record of its
   * occurrences stay in either case.
   *
   * @default "retire"
   */
  readonly removedSchedules?: "retire" | "delete"
  /**
   * The name of your program. Needed where several programs, or processes with different `schedules`, share a schema:
   * each then retires only what has been declared under its own name.
   */
  readonly application?: string
  /**
   * Who acts, in the audit, where a call does not name an `actor`: a service, a script, a person.
   *
   * @default the user, the host and the process id, as in `"deploy@web-3:4711"`
   */
  readonly actor?: string
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
  /**
   * How long a handler may go on after the end of its attempt is decided: it has timed out, was cancelled or has lost its
   * lease. After that it is stuck: its slot counts as lost until it returns, and its run goes on without it, also in this
   * process.
   *
   * @default "30s"
   */
  readonly overrunGrace?: Duration
  /**
   * What this process does when all slots of a pool are lost to handlers that are stuck.
   *
   * - `"report"`: it says so, in an event and a line, and goes on with its other pools.
   * - `"exit"`: it also stops, gives back everything else, and ends with exit code 1, so that it is started anew.
   *
   * @default "report"
   */
  readonly onStuck?: "exit" | "report"
  /**
   * The version of your code, as in `"2.3.1"`. Shown with attempts and workers; and a process with an older version
   * never overwrites what a newer one has declared about jobs and schedules.
   */
  readonly version?: string
  /**
   * Whether processes tell each other when something becomes ready, by NOTIFY. Without it, and behind poolers that do
   * not pass it on, work in other processes is found by looking: within a second, up to five after idle times.
   *
   * @default true
   */
  readonly wakeups?: boolean
  /** How many connections to the database this process may hold. Without effect on PGlite. */
  readonly connections?: ConnectionOptions
  /**
   * When dead letters count as growing: so many runs died within this time and no one has replayed or discarded them.
   * That is an event, `dead-letters.growing`, and an error in the log, told by one of all processes. Give the same to all
   * of them. `false` turns it off.
   */
  readonly deadLetterAlarm?: false | DeadLetterAlarm
  /**
   * Receives everything that is worth telling, one line for each event: any object with `debug`, `info`, `warn` and
   * `error`. One that is shaped like pino receives fields as well.
   *
   * @default what matters to operators goes to stderr: readable on a terminal, one JSON object per line elsewhere
   */
  readonly logger?: Logger
}

/** How many connections this process holds. */
export interface ConnectionOptions {
  /**
   * The most that this process holds at once, from 2 on. What is vital comes first, then claims and enqueues. From 3 on a
   * thread has one of its own to renew the lease with, from 4 on one listens for wake-ups, and from 5 on transactions of
   * handlers have their own. Below that the event loop renews, work is found by looking, and an open
   * `ctx.transaction` keeps this process from claiming and enqueuing.
   *
   * @default 22; an idle process holds about five of them
   */
  readonly max?: number
}

/** When dead letters count as growing. */
export interface DeadLetterAlarm {
  /**
   * How many runs have to die. It is over when less than half as many have.
   *
   * @default 100
   */
  readonly atLeast?: number
  /**
   * Within which time.
   *
   * @default "1h"
   */
  readonly within?: Duration
}

/** The options of `stop`. */
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

/** PostgreSQL cuts longer names off in silence. */
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

/** Says nothing about what was given: it may hold a password. */
const databaseCheck: Check = (value, path) => {
  if (value === "memory" || value === "pglite") return []
  if (typeof value === "string" && isServerUrl(value)) return []
  const message =
    'expected "memory", "pglite" or a URL like "postgres://user:password@host:5432/database", ' +
    "in which special characters of the password are percent-encoded"
  return [{ path, message }]
}

/** Further than that it is not counted. */
const MOST_DEAD = 10_000

const alarmCheck = object({
  atLeast: optional(integer({ min: 1, max: MOST_DEAD })),
  within: optional(duration({ min: 1_000, max: 30 * 86_400_000 })),
})

const carillonCheck = object({
  database: optional(databaseCheck),
  schema: optional(schemaCheck),
  dataDir: optional(
    satisfies("a folder", (value) => typeof value === "string" && value !== "" && !value.includes("\0")),
  ),
  jobs: optional(array(jobValueCheck)),
  pools: optional(record(poolNameCheck, integer({ min: 1, max: 10_000 }))),
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
})

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
  const leaseMs = parseDuration(options.lease) ?? DEFAULTS.leaseMs
  return {
    database: options.database,
    schema: options.schema ?? DEFAULTS.schema,
    dataDir: options.dataDir,
    jobs: new Map(jobs.map((job) => [job.name, job])),
    pools: new Map(Object.entries(pools)),
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

/** A pool that no job names and that is called almost like one that is named: most likely a typing error. */
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
