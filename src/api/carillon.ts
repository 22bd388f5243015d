/** The public object: enqueues, waits, steers, starts and stops. Creating it does no I/O. */
import type { EventListener } from "../observe/events.ts"
import { assertOptions, satisfies } from "../options/check.ts"
import type { Host } from "../runtime/host.ts"
import { createSystemHost } from "../runtime/system.ts"
import { planMigrations } from "../store/migrate.ts"
import { type Application, createApplication, type Opened } from "./application.ts"
import { type Audit, auditCalls } from "./audit/audit.ts"
import { bulkCalls } from "./bulk/bulk.ts"
import type { Bulk } from "./bulk/calls.ts"
import { assertNothingElse, type CallOptions, takeCallOptions } from "./call-options.ts"
import type { DeadLetters } from "./dead-letters/calls.ts"
import { deadLetterCalls } from "./dead-letters/dead-letters.ts"
import { type Jobs, jobCalls } from "./jobs/jobs.ts"
import { overrideCalls } from "./jobs/override.ts"
import { openDatabase } from "./open-database.ts"
import { type CarillonOptions, resolveOptions, resolveStop, type StopOptions } from "./options.ts"
import { type Everything, type Pauses, pauseCalls } from "./pauses/pauses.ts"
import { type Pools, poolCalls } from "./pools/pools.ts"
import { assertReady } from "./ready.ts"
import type { Runs } from "./runs/calls.ts"
import { copyCalls } from "./runs/copies.ts"
import { type EnqueueCalls, enqueueCalls } from "./runs/enqueue.ts"
import { readCalls } from "./runs/reads.ts"
import { steeringCalls as runSteering } from "./runs/steering.ts"
import { waitForRuns } from "./runs/wait.ts"
import { backfillCall } from "./schedules/backfill.ts"
import type { Schedules } from "./schedules/calls.ts"
import { plannedFires, scheduleFires } from "./schedules/fires.ts"
import { definingCalls, getSchedule, listAllSchedules } from "./schedules/schedules.ts"
import { steeringCalls } from "./schedules/steering.ts"
import { type Stats, statsCalls } from "./stats/stats.ts"
import { type Tenants, tenantCalls } from "./tenants/tenants.ts"
import { type Tokens, tokenCalls } from "./tokens/tokens.ts"
import type { Work } from "./work/calls.ts"
import { workCalls } from "./work/work.ts"
import { type Workers, workerCalls } from "./workers/workers.ts"

/** What `createCarillon` returns: it enqueues, waits, steers, starts and stops. */
export interface Carillon extends EnqueueCalls {
  /**
   * Connects, brings the schema up to date and begins to execute runs of the declared jobs. Resolves when the declared
   * schedules are stored. If storing them fails because the database goes away, `start` resolves anyway, and Carillon
   * stores them later.
   */
  readonly start: () => Promise<void>
  /** Stops claiming, gives handlers time to finish, aborts and gives back the other runs, and closes connections. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** The calls for runs, in all states. */
  readonly runs: Runs
  /** The calls for dead letters: runs that failed for good. */
  readonly deadLetters: DeadLetters
  /** One action on many runs, carried on by any process. */
  readonly bulk: Bulk
  /** The calls for schedules, which make runs at planned times. */
  readonly schedules: Schedules
  /** Jobs, with the settings that the code declares; pauses them and overrides settings. */
  readonly jobs: Jobs
  /** Pools, with what waits in them; pauses and resumes them. */
  readonly pools: Pools
  /** Pauses and resumes tenants. */
  readonly tenants: Tenants
  /** Pauses and resumes all runs at once. */
  readonly everything: Everything
  /** Lists what is paused. */
  readonly pauses: Pauses
  /** Processes that execute runs. */
  readonly workers: Workers
  /** Claims and settles runs for workers in other languages. */
  readonly work: Work
  /** Tokens, with which programs and people call `carillon/http`. */
  readonly tokens: Tokens
  /** Who changed what, and why. */
  readonly audit: Audit
  /** Statistics: how attempts ended and what waited, over time and now. */
  readonly stats: Stats
  /** Calls `listener` with every event of this process. The returned function ends that. */
  readonly subscribe: (listener: EventListener) => () => void
  /** Resolves if the database answers and has the schema of this version. Otherwise it throws what is wrong. */
  readonly ready: (options?: CallOptions) => Promise<void>
  /** Returns the SQL that would bring the schema up to date. Does not run it. */
  readonly planMigrations: () => Promise<string>
  /** Brings the schema up to date. Returns the versions that were missing. */
  readonly migrate: () => Promise<readonly number[]>
  /** The URL of the embedded server while it runs, for example for `psql`. `undefined` for other databases. */
  readonly url: () => string | undefined
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Creates a Carillon.
 *
 * @example
 * const carillon = createCarillon({ database: process.env.DATABASE_URL, jobs: [sendEmail] })
 * await carillon.start()
 * const run = await carillon.enqueue(sendEmail, { to: "ada@example.com" })
 * await run.result()
 * await carillon.stop()
 */
export function createCarillon(options: CarillonOptions = {}): Carillon {
  return createCarillonOn(createSystemHost(), options)
}

/** Creates a Carillon on a host of the caller, such as a simulated process. */
export function createCarillonOn(host: Host, options: CarillonOptions): Carillon {
  const resolved = resolveOptions(options)
  return createFacade(
    host,
    createApplication(host, resolved, (reports) => openDatabase(host, resolved, reports)),
  )
}

const listenerCheck = satisfies("a function", (value) => typeof value === "function")

function assertListener(listener: unknown): void {
  assertOptions("subscribe", listener, (value) => listenerCheck(value, "listener"))
}

/** The public face of an application. */
export function createFacade(host: Host, application: Application): Carillon {
  const stop = async (options: StopOptions = {}) => application.stop(resolveStop(options).graceMs)
  /** A call whose options, at this place among its arguments, may also limit it. */
  const call = <Args extends unknown[], T>(
    name: string,
    place: number,
    work: (opened: Opened, ...args: Args) => Promise<T>,
  ) => {
    return async (...args: Args) => {
      const { own, options } = takeCallOptions(name, args, place)
      return application.call((opened) => work(opened, ...own), options)
    }
  }

  /** A call that takes one name or id, and no options but those of every call. */
  const callByName = <T>(name: string, work: (opened: Opened, of: string) => Promise<T>) =>
    call(name, 1, async (opened: Opened, of: string, rest?: CallOptions) => {
      assertNothingElse(name, rest)
      return work(opened, of)
    })
  /** A call that takes no options but those of every call. */
  const callWithout = <T>(name: string, work: (opened: Opened) => Promise<T>) =>
    call(name, 0, async (opened: Opened, rest?: CallOptions) => {
      assertNothingElse(name, rest)
      return work(opened)
    })

  return Object.freeze({
    start: application.start,
    stop,
    ...enqueueCalls(host, application),
    runs: Object.freeze({
      get: callByName("runs.get", readCalls.get),
      list: call("runs.list", 0, readCalls.list),
      count: call("runs.count", 0, readCalls.count),
      attempts: callByName("runs.attempts", readCalls.attempts),
      logs: callByName("runs.logs", readCalls.logs),
      wait: ((runs, options) => waitForRuns(application.open, runs, options)) as Runs["wait"],
      cancel: call("runs.cancel", 1, runSteering.cancel),
      expedite: call("runs.expedite", 1, runSteering.expedite),
      delay: call("runs.delay", 2, runSteering.delay),
      move: call("runs.move", 2, runSteering.move),
      edit: call("runs.edit", 2, runSteering.edit),
      rerun: call("runs.rerun", 1, copyCalls.rerun),
      clone: call("runs.clone", 2, copyCalls.clone),
    }),
    deadLetters: Object.freeze({
      get: callByName("deadLetters.get", deadLetterCalls.get),
      list: call("deadLetters.list", 0, deadLetterCalls.list),
      groups: call("deadLetters.groups", 0, deadLetterCalls.groups),
      group: call("deadLetters.group", 1, deadLetterCalls.group),
      replay: call("deadLetters.replay", 1, deadLetterCalls.replay) as DeadLetters["replay"],
      editAndReplay: call("deadLetters.editAndReplay", 2, deadLetterCalls.editAndReplay),
      discard: call("deadLetters.discard", 1, deadLetterCalls.discard) as DeadLetters["discard"],
      resolve: call("deadLetters.resolve", 1, deadLetterCalls.resolve),
      ignore: call("deadLetters.ignore", 1, deadLetterCalls.ignore),
      reopen: call("deadLetters.reopen", 1, deadLetterCalls.reopen),
    }),
    bulk: Object.freeze({
      preview: call("bulk.preview", 0, bulkCalls.preview),
      start: call("bulk.start", 0, bulkCalls.start),
      get: callByName("bulk.get", bulkCalls.get),
      list: call("bulk.list", 0, bulkCalls.list),
      pause: call("bulk.pause", 1, bulkCalls.pause),
      resume: call("bulk.resume", 1, bulkCalls.resume),
      abort: call("bulk.abort", 1, bulkCalls.abort),
    }),
    schedules: Object.freeze({
      create: call("schedules.create", 1, definingCalls.create) as Schedules["create"],
      put: call("schedules.put", 1, definingCalls.put) as Schedules["put"],
      patch: call("schedules.patch", 2, definingCalls.patch),
      get: call("schedules.get", 1, getSchedule),
      list: call("schedules.list", 0, listAllSchedules),
      pause: call("schedules.pause", 1, steeringCalls.pause),
      resume: call("schedules.resume", 1, steeringCalls.resume),
      cancel: call("schedules.cancel", 1, steeringCalls.cancel),
      delete: call("schedules.delete", 1, steeringCalls.delete),
      runNow: call("schedules.runNow", 1, steeringCalls.runNow),
      skipNext: call("schedules.skipNext", 1, steeringCalls.skipNext),
      fires: call("schedules.fires", 1, scheduleFires),
      planned: call("schedules.planned", 1, plannedFires),
      backfill: call("schedules.backfill", 1, backfillCall),
    }),
    jobs: Object.freeze({
      get: callByName("jobs.get", jobCalls.get),
      list: call("jobs.list", 0, jobCalls.list),
      pause: call("jobs.pause", 1, pauseCalls.job.pause),
      resume: call("jobs.resume", 1, pauseCalls.job.resume),
      override: call("jobs.override", 2, overrideCalls.override),
      clearOverride: call("jobs.clearOverride", 1, overrideCalls.clear),
    }),
    pools: Object.freeze({
      get: callByName("pools.get", poolCalls.get),
      list: callWithout("pools.list", poolCalls.list),
      pause: call("pools.pause", 1, pauseCalls.pool.pause),
      resume: call("pools.resume", 1, pauseCalls.pool.resume),
    }),
    tenants: Object.freeze({
      list: call("tenants.list", 0, tenantCalls.list),
      pause: call("tenants.pause", 1, pauseCalls.tenant.pause),
      resume: call("tenants.resume", 1, pauseCalls.tenant.resume),
    }),
    everything: Object.freeze({
      pause: call("everything.pause", 0, pauseCalls.everything.pause),
      resume: call("everything.resume", 0, pauseCalls.everything.resume),
    }),
    pauses: Object.freeze({ list: callWithout("pauses.list", pauseCalls.list) }),
    workers: Object.freeze({
      get: callByName("workers.get", workerCalls.get),
      list: call("workers.list", 0, workerCalls.list),
    }),
    work: Object.freeze({
      claim: call("work.claim", 0, workCalls.claim),
      heartbeat: call("work.heartbeat", 0, workCalls.heartbeat),
      settle: call("work.settle", 0, workCalls.settle),
    }),
    tokens: Object.freeze({
      create: call("tokens.create", 0, tokenCalls.create),
      list: call("tokens.list", 0, tokenCalls.list),
      revoke: call("tokens.revoke", 1, tokenCalls.revoke),
      verify: callByName("tokens.verify", tokenCalls.verify),
    }),
    audit: Object.freeze({ list: call("audit.list", 0, auditCalls.list) }),
    stats: Object.freeze({
      series: call("stats.series", 0, statsCalls.series),
      depths: call("stats.depths", 0, statsCalls.depths),
      now: callWithout("stats.now", statsCalls.now),
      due: callWithout("stats.due", statsCalls.due),
    }),
    subscribe: (listener) => {
      assertListener(listener)
      return application.events.subscribe(listener)
    },
    ready: callWithout("ready", assertReady),
    planMigrations: async () => {
      const { database } = await application.connect()
      return planMigrations(database)
    },
    migrate: async () => {
      const { migrated } = await application.open()
      return migrated
    },
    url: application.url,
    [Symbol.asyncDispose]: () => stop(),
  } satisfies Carillon)
}
