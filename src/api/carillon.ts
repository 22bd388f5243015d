/** What users hold: enqueue, wait, steer, start, stop. Creating one does no I/O. */
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
import { assertOptions, satisfies } from "../options/check.ts"
import type { Host } from "../runtime/host.ts"
import { createSystemHost } from "../runtime/system.ts"
import { listAttempts } from "../store/attempts/by-run.ts"
import { planMigrations } from "../store/migrate.ts"
import type { ByWhom } from "./actor.ts"
import { type Application, createApplication, type Opened } from "./application.ts"
import { assertJob } from "./assert-job.ts"
import { openDatabase } from "./open-database.ts"
import { type CarillonOptions, resolveOptions, resolveStop, runIdOf, type StopOptions } from "./options.ts"
import { type Pause, type PauseTarget, pauseCalls } from "./pauses.ts"
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
import { createRunHandle, type ResultOptions, type RunHandle, waitForOutput } from "./runs/run-handle.ts"
import { type ExpediteOptions, getRun, type RunRecord, runCalls } from "./runs/runs.ts"
import { backfillCall } from "./schedules/backfill.ts"
import type { Schedules } from "./schedules/calls.ts"
import { plannedFires, scheduleFires } from "./schedules/fires.ts"
import { definingCalls, getSchedule, listAllSchedules } from "./schedules/schedules.ts"
import { steeringCalls } from "./schedules/steering.ts"

/** The arguments after the job: an input that may be left out where the job takes none, then options. */
export type EnqueueArgs<Input> = undefined extends Input
  ? [input?: Input, options?: EnqueueOptions]
  : [input: Input, options?: EnqueueOptions]

/** What `createCarillon` returns: it enqueues, waits, steers, starts and stops. */
export interface Carillon {
  /**
   * Connects, brings the schema up to date and begins to execute runs of the declared jobs. Resolves when the declared
   * schedules are stored. If the database goes away before, it resolves all the same, and they are stored later.
   */
  readonly start: () => Promise<void>
  /** Claims nothing more, lets handlers finish for a while, gives the rest back, and closes everything. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /**
   * Writes a run of `job`. When this resolves, the run survives the crash of any process. Works without
   * `start()`: a process may enqueue and leave the work to others.
   */
  readonly enqueue: <Input, Output>(
    job: Job<Input, Output>,
    ...args: EnqueueArgs<NoInfer<Input>>
  ) => Promise<RunHandle<Output>>
  /**
   * Writes up to 50,000 runs of `job`, all of them or none, and answers for each in its order.
   *
   * @example await carillon.enqueueMany(sendEmail, users.map((user) => ({ input: { to: user.email } })))
   */
  readonly enqueueMany: <Input, Output>(
    job: Job<Input, Output>,
    items: readonly EnqueueItem<NoInfer<Input>>[],
    options?: CallerTransaction,
  ) => Promise<RunHandle<Output>[]>
  /** Waits for the end of any run, by its id, and returns what its handler returned. See `RunHandle.result`. */
  readonly result: (runId: string, options?: ResultOptions) => Promise<unknown>
  /** A run that has not ended, as it is now; `undefined` for one that has, or never was. */
  readonly run: (runId: string) => Promise<RunRecord | undefined>
  /** Every finished attempt of a run, the oldest first. */
  readonly attempts: (runId: string) => Promise<AttemptRecord[]>
  /** Finished attempts, the newest first, page by page. */
  readonly history: (options?: HistoryOptions) => Promise<HistoryPage>
  /**
   * Cancels a run in whatever state it is. One that is not running ends at once; the handler of a running one is told
   * through `ctx.signal`, and the run ends as cancelled whatever that handler does.
   */
  readonly cancel: (runId: string, by?: ByWhom) => Promise<Cancelled>
  /** Makes a waiting run due now, or gives a run another priority. Whether there was one that could be. */
  readonly expedite: (runId: string, options?: ExpediteOptions) => Promise<boolean>
  /** Makes a dead run live again, with all its attempts, as its next generation. */
  readonly replay: (runId: string, by?: ByWhom) => Promise<void>
  /** Gives a dead run up for good; what history says of it stays. */
  readonly discard: (runId: string, by?: ByWhom) => Promise<void>
  /**
   * Lets nothing of a job or pool be claimed until it is resumed. Whether that was not so before. A job that no process
   * has declared or executed is refused (`JOB_UNKNOWN`).
   */
  readonly pause: (target: PauseTarget, by?: ByWhom) => Promise<boolean>
  /** Ends a pause. Whether there was one. */
  readonly resume: (target: PauseTarget, by?: ByWhom) => Promise<boolean>
  /** The jobs and pools that are paused. */
  readonly pauses: () => Promise<Pause[]>
  /** Schedules: what happens by itself, at times. */
  readonly schedules: Schedules
  /** Calls `listener` for everything that happens in this process, until the returned function is called. */
  readonly subscribe: (listener: EventListener) => () => void
  /** The SQL that would bring the schema up to date, without running it. */
  readonly planMigrations: () => Promise<string>
  /** Brings the schema up to date and returns the versions that were missing. */
  readonly migrate: () => Promise<readonly number[]>
  /** Where the embedded server can be reached, with `psql` for example, once it runs. */
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

/** The same, in a process of the caller's making. */
export function createCarillonOn(host: Host, options: CarillonOptions): Carillon {
  const resolved = resolveOptions(options)
  return createFacade(
    host,
    createApplication(host, resolved, (reports) => openDatabase(host, resolved, reports)),
  )
}

/** The same error, with the item of `enqueueMany` that it is about. */
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

const listenerCheck = satisfies("a function", (value) => typeof value === "function")

function assertListener(listener: unknown): void {
  assertOptions("subscribe", listener, (value) => listenerCheck(value, "listener"))
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
    subscribe: (listener) => {
      assertListener(listener)
      return application.events.subscribe(listener)
    },
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
