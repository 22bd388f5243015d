/** The public object: enqueues, waits, steers, starts and stops. Creating it does no I/O. */
import { DEFAULTS } from "../defaults.ts"
import { newRun } from "../engine/enqueue/new-run.ts"
import { InputError, PayloadError } from "../errors.ts"
import type { Job } from "../job/define.ts"
import { encodePayload } from "../job/payload.ts"
import type { EventListener } from "../observe/events.ts"
import { perform } from "../operations/perform.ts"
import type { Cancelled } from "../operations/runs/cancel.ts"
import { enqueue as enqueueRuns } from "../operations/runs/enqueue.ts"
import { enqueueIn } from "../operations/runs/enqueue-in.ts"
import type { Host } from "../runtime/host.ts"
import { createSystemHost } from "../runtime/system.ts"
import { listAttempts } from "../store/attempts/by-run.ts"
import { planMigrations } from "../store/migrate.ts"
import type { ByWhom } from "./actor.ts"
import { type Application, createApplication, type Opened } from "./application.ts"
import { assertJob } from "./assert-job.ts"
import { type Audit, auditCalls } from "./audit/audit.ts"
import { type Jobs, jobCalls } from "./jobs/jobs.ts"
import { openDatabase } from "./open-database.ts"
import { type CarillonOptions, resolveOptions, resolveStop, runIdOf, type StopOptions } from "./options.ts"
import { type Pause, type PauseTarget, pauseCalls } from "./pauses.ts"
import { type Pools, poolCalls } from "./pools/pools.ts"
import { type AttemptRecord, attemptRecords } from "./runs/attempt-record.ts"
import {
  type CallerTransaction,
  type EnqueueItem,
  type EnqueueOptions,
  type ResolvedRun,
  resolveEnqueue,
  resolveItems,
  resolveManyOptions,
} from "./runs/enqueue-options.ts"
import { type HistoryOptions, type HistoryPage, listHistory } from "./runs/history.ts"
import { type Runs, readCalls } from "./runs/reads.ts"
import { createRunHandle, type RunHandle, waitForOutput } from "./runs/run-handle.ts"
import { type ExpediteOptions, getRun, type RunRecord, runCalls } from "./runs/runs.ts"
import { backfillCall } from "./schedules/backfill.ts"
import type { Schedules } from "./schedules/calls.ts"
import { plannedFires, scheduleFires } from "./schedules/fires.ts"
import { definingCalls, getSchedule, listAllSchedules } from "./schedules/schedules.ts"
import { steeringCalls } from "./schedules/steering.ts"
import { type Stats, statsCalls } from "./stats/stats.ts"
import { type Workers, workerCalls } from "./workers/workers.ts"

/** The arguments after the job: the input, optional if the job accepts `undefined`, then options. */
export type EnqueueArgs<Input> = undefined extends Input
  ? [input?: Input, options?: EnqueueOptions]
  : [input: Input, options?: EnqueueOptions]

/** What `createCarillon` returns: it enqueues, waits, steers, starts and stops. */
export interface Carillon {
  /**
   * Connects, brings the schema up to date and begins to execute runs of the declared jobs. Resolves when the declared
   * schedules are stored. If storing them fails because the database goes away, `start` resolves anyway, and Carillon
   * stores them later.
   */
  readonly start: () => Promise<void>
  /** Stops claiming, gives handlers time to finish, aborts and gives back the other runs, and closes connections. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /**
   * Writes a run of `job`. After it resolves, the run survives the crash of any process. It needs no `start()`: a
   * process may enqueue and leave the execution to others.
   */
  readonly enqueue: <Input, Output>(
    job: Job<Input, Output>,
    ...args: EnqueueArgs<NoInfer<Input>>
  ) => Promise<RunHandle<Output>>
  /**
   * Writes up to 50,000 runs of `job`, all or none. Returns one handle for each item, in the same order.
   *
   * @example await carillon.enqueueMany(sendEmail, users.map((user) => ({ input: { to: user.email } })))
   */
  readonly enqueueMany: <Input, Output>(
    job: Job<Input, Output>,
    items: readonly EnqueueItem<NoInfer<Input>>[],
    options?: CallerTransaction,
  ) => Promise<RunHandle<Output>[]>
  /** Waits for the end of a run by its id, and returns what its handler returned. See `RunHandle.result`. */
  readonly result: (runId: string, options?: { readonly signal?: AbortSignal }) => Promise<unknown>
  /** Reads runs of all states: one by its id, a page of them, or how many there are. */
  readonly runs: Runs
  /** Reads a run that has not ended. `undefined` if it has ended or there is no such run. */
  readonly run: (runId: string) => Promise<RunRecord | undefined>
  /** Lists all finished attempts of a run, oldest first. */
  readonly attempts: (runId: string) => Promise<AttemptRecord[]>
  /** Lists finished attempts, newest first, page by page. */
  readonly history: (options?: HistoryOptions) => Promise<HistoryPage>
  /**
   * Cancels a run in any state. A run that is not running ends at once. The handler of a running run gets the abort of
   * `ctx.signal`, and the run ends as cancelled, whatever the handler returns.
   */
  readonly cancel: (runId: string, by?: ByWhom) => Promise<Cancelled>
  /** Makes a waiting run due now, or changes the priority of a run. Returns whether the run was changed. */
  readonly expedite: (runId: string, options?: ExpediteOptions) => Promise<boolean>
  /** Puts a dead run back into the queue with all its attempts, as its next generation. */
  readonly replay: (runId: string, by?: ByWhom) => Promise<void>
  /** Removes a dead letter for good. History keeps its attempts. */
  readonly discard: (runId: string, by?: ByWhom) => Promise<void>
  /**
   * Stops claims of a job's or a pool's runs until `resume`. Running handlers continue. Returns whether the target was
   * not paused before. Throws `JOB_UNKNOWN` for a job that no process has declared or executed.
   */
  readonly pause: (target: PauseTarget, by?: ByWhom) => Promise<boolean>
  /** Ends a pause. Returns whether there was one. */
  readonly resume: (target: PauseTarget, by?: ByWhom) => Promise<boolean>
  /** Lists the paused jobs and pools. */
  readonly pauses: () => Promise<Pause[]>
  /** The calls for schedules, which make runs at planned times. */
  readonly schedules: Schedules
  /** Jobs, with the settings that the code declares. */
  readonly jobs: Jobs
  /** Pools, with what waits in them. */
  readonly pools: Pools
  /** Processes that execute runs. */
  readonly workers: Workers
  /** Who changed what, and why. */
  readonly audit: Audit
  /** Statistics: how attempts ended and what waited, over time and now. */
  readonly stats: Stats
  /** Calls `listener` with every event of this process. The returned function ends that. */
  readonly subscribe: (listener: EventListener) => () => void
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

/** Adds the index of the item of `enqueueMany` to an error. */
function nameItem(error: unknown, index: number): unknown {
  const item = `items[${index}]`
  if (error instanceof InputError) {
    return new InputError(
      error.job,
      error.issues.map(({ path, message }) => ({ path: `${item}.${path}`, message })),
    )
  }
  if (!(error instanceof PayloadError)) return error
  const path = error.path === "" ? item : `${item}.${error.path}`
  const code = error.code === "PAYLOAD_TOO_LARGE" ? "PAYLOAD_TOO_LARGE" : "PAYLOAD_INVALID"
  return new PayloadError(code, path, `${item}: ${error.message}`, { cause: error })
}

/** The public face of an application. */
export function createFacade(host: Host, application: Application): Carillon {
  async function enqueueAll<Output>(
    job: Job<never, Output>,
    items: readonly { readonly input: unknown; readonly run: ResolvedRun }[],
    { tx, naming }: CallerTransaction & { readonly naming: (error: unknown, index: number) => unknown },
  ): Promise<RunHandle<Output>[]> {
    const named = (index: number) => (error: unknown) => {
      throw naming(error, index)
    }
    const inputs = items.map(({ input }, index) => {
      try {
        return encodePayload(input, "input", DEFAULTS.inputBytes)
      } catch (error) {
        return named(index)(error)
      }
    })
    return application.call(async (opened) => {
      if (job.hasSchema) {
        for (const [index, input] of inputs.entries()) {
          await Promise.resolve(job.parse(input)).catch(named(index))
        }
      }
      const runs = items.map(({ run }, index) => newRun(run, host.newId(), inputs[index] ?? ""))
      const operation = tx ? enqueueIn(opened, { tx, job, runs }) : enqueueRuns(opened, { job, runs })
      const answers = await perform(opened.engine.tell, operation)
      return answers.map((answer) => createRunHandle<Output>(opened.engine.results, answer))
    })
  }

  async function enqueue<Input, Output>(
    job: Job<Input, Output>,
    input?: Input,
    options: EnqueueOptions = {},
  ): Promise<RunHandle<Output>> {
    assertJob(job)
    const run = resolveEnqueue(options, job.concurrency !== null)
    const naming = (error: unknown) => error
    const [handle] = await enqueueAll(job, [{ input, run }], { ...options, naming })
    return handle as RunHandle<Output>
  }

  async function enqueueMany<Input, Output>(
    job: Job<Input, Output>,
    items: readonly EnqueueItem<Input>[],
    options: CallerTransaction = {},
  ): Promise<RunHandle<Output>[]> {
    assertJob(job)
    resolveManyOptions(options)
    const runs = resolveItems(items, job.concurrency !== null)
    const all = runs.map((run, index) => ({ input: items[index]?.input, run }))
    return all.length === 0 ? [] : enqueueAll(job, all, { ...options, naming: nameItem })
  }

  const stop = async (options: StopOptions = {}) => application.stop(resolveStop(options).graceMs)
  const call = <Args extends unknown[], T>(work: (opened: Opened, ...args: Args) => Promise<T>) => {
    return (...args: Args) => application.call((opened) => work(opened, ...args))
  }

  return Object.freeze({
    start: application.start,
    stop,
    enqueue: (job, ...[input, options]) => enqueue(job, input, options),
    enqueueMany,
    result: async (runId, options) => {
      const id = runIdOf(runId)
      const { engine } = await application.open()
      return waitForOutput(engine.results, id, options)
    },
    runs: Object.freeze({
      get: call(readCalls.get),
      list: call(readCalls.list),
      count: call(readCalls.count),
    }),
    run: call(getRun),
    attempts: call(async ({ runtime }, runId: string) =>
      attemptRecords(runtime.database, await listAttempts(runtime.database, runIdOf(runId))),
    ),
    history: call(({ runtime }, options?: HistoryOptions) => listHistory(runtime, options ?? {})),
    cancel: call(runCalls.cancel),
    expedite: call(runCalls.expedite),
    replay: call(runCalls.replay),
    discard: call(runCalls.discard),
    pause: call(pauseCalls.pause),
    resume: call(pauseCalls.resume),
    pauses: call(pauseCalls.list),
    schedules: Object.freeze({
      create: call(definingCalls.create) as Schedules["create"],
      put: call(definingCalls.put) as Schedules["put"],
      patch: call(definingCalls.patch),
      get: call(getSchedule),
      list: call(listAllSchedules),
      pause: call(steeringCalls.pause),
      resume: call(steeringCalls.resume),
      cancel: call(steeringCalls.cancel),
      delete: call(steeringCalls.delete),
      runNow: call(steeringCalls.runNow),
      skipNext: call(steeringCalls.skipNext),
      fires: call(scheduleFires),
      planned: call(plannedFires),
      backfill: call(backfillCall),
    }),
    jobs: Object.freeze({ get: call(jobCalls.get), list: call(jobCalls.list) }),
    workers: Object.freeze({ get: call(workerCalls.get), list: call(workerCalls.list) }),
    audit: Object.freeze({ list: call(auditCalls.list) }),
    pools: Object.freeze({ get: call(poolCalls.get), list: call(poolCalls.list) }),
    stats: Object.freeze({
      series: call(statsCalls.series),
      depths: call(statsCalls.depths),
      now: call(statsCalls.now),
    }),
    subscribe: application.events.subscribe,
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
