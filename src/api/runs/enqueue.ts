/** The calls that enqueue runs: their checks, their inputs as JSON, and their handles. */
import { DEFAULTS } from "../../defaults.ts"
import { newRun } from "../../engine/enqueue/new-run.ts"
import { InputError, PayloadError } from "../../errors.ts"
import { isJob, type Job } from "../../job/define.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import { jobNameCheck } from "../../job/options.ts"
import { encodePayload } from "../../job/payload.ts"
import { enqueueSettings } from "../../operations/jobs/enqueue-settings.ts"
import { perform } from "../../operations/perform.ts"
import { enqueue as enqueueRuns } from "../../operations/runs/enqueue.ts"
import { enqueueIn } from "../../operations/runs/enqueue-in.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { Host } from "../../runtime/host.ts"
import { withDeadline } from "../../store/deadline.ts"
import type { Application, Opened } from "../application.ts"
import { assertJob } from "../assert-job.ts"
import { takeCallOptions } from "../call-options.ts"
import type { CallerTransaction } from "../caller-transaction.ts"
import type { ResolvedCall } from "../limited-call.ts"
import {
  type EnqueueItem,
  type EnqueueManyOptions,
  type EnqueueOptions,
  type ResolvedRun,
  resolveEnqueue,
  resolveItems,
  resolveManyOptions,
} from "./enqueue-options.ts"
import { createRunHandle, type RunHandle } from "./run-handle.ts"

/** The arguments after the job: the input, optional if the job accepts `undefined`, then options. */
export type EnqueueArgs<Input> = undefined extends Input
  ? [input?: Input, options?: EnqueueOptions]
  : [input: Input, options?: EnqueueOptions]

/** The calls that enqueue. */
export interface EnqueueCalls {
  /**
   * Writes a run of `job`. After it resolves, the run survives the crash of any process. It needs no `start()`: a
   * process may enqueue and leave the execution to others.
   *
   * `job` may be the name of a job that another process declares. Its stored settings apply, and the worker checks the
   * input. Throws `JOB_UNKNOWN` if no process has ever declared it.
   */
  readonly enqueue: <Input, Output>(
    job: Job<Input, Output> | string,
    ...args: EnqueueArgs<NoInfer<Input>>
  ) => Promise<RunHandle<Output>>
  /**
   * Writes up to 50,000 runs of `job`, all or none. Returns one handle for each item, in the same order. `job` may be a
   * name, as in `enqueue`.
   *
   * @example await carillon.enqueueMany(sendEmail, users.map((user) => ({ input: { to: user.email } })))
   */
  readonly enqueueMany: <Input, Output>(
    job: Job<Input, Output> | string,
    items: readonly EnqueueItem<NoInfer<Input>>[],
    options?: EnqueueManyOptions,
  ) => Promise<RunHandle<Output>[]>
}

type JobOrName = Job<never, unknown> | string

/** The runs of one call. */
interface Wanted {
  readonly items: readonly { readonly input?: unknown }[]
  /** Checks the options of the runs, for a job with or without a limit. */
  readonly resolve: (limited: boolean) => readonly ResolvedRun[]
  readonly tx: CallerTransaction["tx"]
  /** Adds to an error which of the runs it is about. */
  readonly naming: (error: unknown, index: number) => unknown
}

export function enqueueCalls(host: Host, application: Pick<Application, "call">): EnqueueCalls {
  async function enqueueAll<Output>(
    job: JobOrName,
    { items, resolve, tx, naming }: Wanted,
    limits: ResolvedCall | undefined,
  ): Promise<RunHandle<Output>[]> {
    const named = (index: number) => (error: unknown) => {
      throw naming(error, index)
    }
    // Whether a job that is only named has a limit is known later. Everything else is refused at once.
    const resolved = resolve(typeof job === "string" || job.concurrency !== null)
    if (resolved.length === 0) return []
    const encoded = items.map(({ input }, index) => {
      try {
        return encodePayload(input, "input", DEFAULTS.inputBytes)
      } catch (error) {
        return named(index)(error)
      }
    })
    return application.call(async (opened) => {
      const settings = typeof job === "string" ? await enqueueSettings(opened, { name: job, tx }) : job
      if (typeof job === "string" && settings.concurrency === null) resolve(false)
      await checkInputs(opened, settings, { inputs: encoded, named })
      const runs = resolved.map((run, index) => newRun(run, host.newId(), encoded[index] ?? ""))
      const request = { job: settings, runs }
      const operation = tx ? enqueueIn(opened, { tx, ...request }) : enqueueRuns(opened, request)
      const answers = await perform(opened.engine.tell, operation)
      return answers.map((answer) => createRunHandle<Output>(opened.engine.results, answer))
    }, limits)
  }

  async function checkInputs(
    opened: Opened,
    job: EnqueueSettings,
    {
      inputs,
      named,
    }: { readonly inputs: readonly string[]; readonly named: (index: number) => (error: unknown) => never },
  ): Promise<void> {
    if (!isJob(job) || !job.hasSchema) return
    const atMs = opened.limits?.deadlineAtMs ?? host.monotonicMs() + DEFAULTS.deadlineMs
    for (const [index, input] of inputs.entries()) await parsed(job, input, atMs).catch(named(index))
  }

  /** A schema may ask others, who may never answer. */
  async function parsed(job: Job<never, unknown>, input: string, atMs: number): Promise<unknown> {
    const message = "the schema has not answered before the deadline of the call"
    return withDeadline(host, {
      atMs,
      work: Promise.resolve(job.parse(input)),
      onLate: () => new InputError(job.name, [{ path: "", message }]),
    })
  }

  async function enqueue<Output>(
    job: JobOrName,
    input?: unknown,
    options: EnqueueOptions = {},
  ): Promise<RunHandle<Output>> {
    assertJobOrName(job)
    const { own, options: limits } = takeCallOptions("enqueue", [options], 0)
    const [given = {}] = own
    const resolve = (limited: boolean) => [resolveEnqueue(given, limited)]
    const naming = (error: unknown) => error
    const [handle] = await enqueueAll<Output>(
      job,
      { items: [{ input }], resolve, tx: given.tx, naming },
      limits,
    )
    return handle as RunHandle<Output>
  }

  async function enqueueMany<Output>(
    job: JobOrName,
    items: readonly EnqueueItem<unknown>[],
    options: EnqueueManyOptions = {},
  ): Promise<RunHandle<Output>[]> {
    assertJobOrName(job)
    const { own, options: limits } = takeCallOptions("enqueueMany", [options], 0)
    const [given = {}] = own
    resolveManyOptions(given)
    const resolve = (limited: boolean) => resolveItems(items, limited)
    return enqueueAll<Output>(job, { items, resolve, tx: given.tx, naming: nameItem }, limits)
  }

  return { enqueue: (job, ...[input, options]) => enqueue(job, input, options), enqueueMany }
}

function assertJobOrName(job: unknown): void {
  if (typeof job === "string") assertOptions("enqueue", { job }, object({ job: jobNameCheck }))
  else assertJob(job)
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
