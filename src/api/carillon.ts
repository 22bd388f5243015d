/** What users hold: enqueue, wait, start, stop. Creating one does no I/O. */
import { DEFAULTS } from "../defaults.ts"
import type { Job } from "../job/define.ts"
import { encodePayload } from "../job/payload.ts"
import type { EventListener } from "../observe/events.ts"
import type { Host } from "../runtime/host.ts"
import { createSystemHost } from "../runtime/system.ts"
import { listAttemptsOfRun } from "../store/attempts/list-of-run.ts"
import { planMigrations } from "../store/migrate.ts"
import { insertRuns } from "../store/runs/insert.ts"
import { type Application, createApplication } from "./application.ts"
import { type AttemptRecord, attemptRecord } from "./attempt-record.ts"
import { openDatabase } from "./open-database.ts"
import {
  assertJob,
  type CarillonOptions,
  type EnqueueOptions,
  resolveEnqueue,
  resolveOptions,
  resolveStop,
  runIdOf,
  type StopOptions,
} from "./options.ts"
import { createRunHandle, type RunHandle, waitForOutput } from "./run-handle.ts"

/** The arguments after the job: an input that may be left out where the job takes none, then options. */
export type EnqueueArgs<Input> = undefined extends Input
  ? [input?: Input, options?: EnqueueOptions]
  : [input: Input, options?: EnqueueOptions]

export interface Carillon {
  /** Connects, brings the schema up to date and begins to execute runs of the declared jobs. */
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
  /** Waits for the end of any run, by its id, and returns what its handler returned. See `RunHandle.result`. */
  readonly result: (runId: string, options?: { readonly signal?: AbortSignal }) => Promise<unknown>
  /** Every finished attempt of a run, the oldest first. */
  readonly attempts: (runId: string) => Promise<AttemptRecord[]>
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
  return publish(
    host,
    createApplication(host, resolved, (onUnreachable) => openDatabase(host, resolved, onUnreachable)),
  )
}

/** The public face of an application. */
export function publish(host: Host, application: Application): Carillon {
  async function enqueue<Input, Output>(
    job: Job<Input, Output>,
    input?: Input,
    options: EnqueueOptions = {},
  ): Promise<RunHandle<Output>> {
    assertJob(job)
    const { delayMs, runAt, priority = job.priority } = resolveEnqueue(options)
    const json = encodePayload(input, "input", DEFAULTS.inputBytes)
    return application.call(async ({ runtime, engine }) => {
      await job.parse(json)
      const id = host.newId()
      const [written] = await runtime.database.run(insertRuns, {
        ids: [id],
        jobs: [job.name],
        pools: [job.pool],
        priorities: [priority],
        delaysMs: [delayMs],
        runAt: [runAt?.getTime() ?? null],
        inputs: [json],
      })
      await runtime.crashPoint("enqueue.written")
      application.events.emit({ type: "run.enqueued", run: id, job: job.name, pool: job.pool })
      if (written?.state === "ready") engine.wakeups.ready(job.pool)
      else engine.wakeups.waiting()
      return createRunHandle<Output>(engine.results, { id, created: written !== undefined })
    })
  }

  const stop = async (options: StopOptions = {}) => application.stop(resolveStop(options).graceMs)

  return Object.freeze({
    start: application.start,
    stop,
    enqueue: (job, ...[input, options]) => enqueue(job, input, options),
    result: async (runId, options) => {
      const id = runIdOf(runId)
      const { engine } = await application.open()
      return waitForOutput(engine.results, id, options)
    },
    attempts: async (runId) => {
      const run = runIdOf(runId)
      return application.call(async ({ runtime }) =>
        (await runtime.database.run(listAttemptsOfRun, { run })).map(attemptRecord),
      )
    },
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
