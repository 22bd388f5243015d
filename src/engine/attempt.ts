/**
 * One try at a run, from its input to its outcome.
 *
 * An attempt ends when its handler ends or when it is told to end, whichever comes first. The handler itself
 * may go on after that; its slot stays taken until it really ends, but nothing it does counts any more.
 */
import { DEFAULTS } from "../defaults.ts"
import { AttemptAborted, InputError, PayloadError } from "../errors.ts"
import type { JobContext } from "../job/context.ts"
import type { AnyJob } from "../job/define.ts"
import { encodePayload } from "../job/payload.ts"
import type { AttemptFacts } from "../observe/events.ts"
import { recordError } from "../queue/error-record.ts"
import type { Outcome } from "../queue/fate.ts"
import type { Host } from "../runtime/host.ts"
import { type InstantMs, toDate } from "../time/instant.ts"

/** A run that this process has claimed. */
export interface ClaimedRun {
  readonly id: string
  readonly lease: string
  readonly claim: bigint
  readonly job: AnyJob
  /** The number of the attempt to be made, counted from 1. */
  readonly attempt: number
  readonly due: InstantMs
  /** JSON, parsed only when the handler starts. */
  readonly input: string
}

/** How an attempt ended, or that the run belongs to another worker now, so that there is nothing to write. */
export type AttemptOutcome = Outcome | { readonly kind: "lost" }

/** What events say about a run. */
export function factsOf({ id, job, attempt }: ClaimedRun): AttemptFacts {
  return { run: id, job: job.name, pool: job.pool, attempt }
}

export interface RunningAttempt {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  readonly outcome: Promise<AttemptOutcome>
  /** Resolves when the handler has really ended. */
  readonly ended: Promise<void>
  /** Whether the handler has really ended. */
  readonly over: () => boolean
  readonly abort: (reason: AttemptAborted) => void
}

/** How long a handler that was told to stop may take to finish or to give up by itself. */
const LAST_WORDS_MS = 1_000

export function startAttempt(host: Host, run: ClaimedRun): RunningAttempt {
  const controller = new AbortController()
  const { job } = run
  const timer =
    job.timeoutMs === null ? undefined : host.after(job.timeoutMs, () => controller.abort(timeoutReason(run)))
  let over = false
  const handled = handle(run, controller.signal).finally(() => {
    over = true
    timer?.cancel()
  })
  const cut = cutShort(host, controller.signal, handled)
  // A handler that never ends must not keep the process alive with a timer that has nothing left to say.
  controller.signal.addEventListener("abort", () => timer?.cancel(), { once: true })
  return {
    run,
    startedAtMs: host.monotonicMs(),
    // Once aborted, what the handler says is up to the reason: most throw because of it.
    outcome: Promise.race([handled.then((outcome) => (controller.signal.aborted ? cut : outcome)), cut]),
    ended: handled.then(() => {}),
    over: () => over,
    abort: (reason) => controller.abort(reason),
  }
}

/** Runs the handler to its end; never rejects. */
async function handle(run: ClaimedRun, signal: AbortSignal): Promise<Outcome> {
  try {
    const input = await run.job.parse(run.input)
    const output = await run.job.execute(input, contextOf(run, signal))
    return { kind: "succeeded", result: encodePayload(output, "result", DEFAULTS.resultBytes) }
  } catch (error) {
    return { kind: "failed", error: recordError(error), retryable: !isFinal(error) }
  }
}

/** The outcome of an attempt that was told to end. Never resolves for one that was not. */
function cutShort(host: Host, signal: AbortSignal, handled: Promise<Outcome>): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    signal.addEventListener(
      "abort",
      () => {
        const reason = signal.reason as AttemptAborted
        if (reason.code === "ATTEMPT_TIMEOUT") resolve({ kind: "timed_out", error: recordError(reason) })
        else if (reason.code === "LEASE_LOST") resolve({ kind: "lost" })
        else resolve(lastWords(host, handled))
      },
      { once: true },
    )
  })
}

/** At a stop a result still counts, a failure does not: it was the stop's doing. */
async function lastWords(host: Host, handled: Promise<Outcome>): Promise<Outcome> {
  const patience = new AbortController()
  const silence = host.sleep(LAST_WORDS_MS, patience.signal).then((): Outcome => ({ kind: "released" }))
  const outcome = await Promise.race([handled, silence])
  patience.abort()
  return outcome.kind === "succeeded" ? outcome : { kind: "released" }
}

function contextOf(run: ClaimedRun, signal: AbortSignal): JobContext {
  return Object.freeze({
    runId: run.id,
    attempt: run.attempt,
    job: run.job.name,
    pool: run.job.pool,
    due: toDate(run.due),
    idempotencyKey: `run:${run.id}`,
    signal,
  })
}

/** The same input will be refused again, and the same code will return the same result. */
function isFinal(error: unknown): boolean {
  try {
    return error instanceof InputError || error instanceof PayloadError
  } catch {
    // A proxy may refuse even this question.
    return false
  }
}

function timeoutReason(run: ClaimedRun): AttemptAborted {
  return new AttemptAborted(
    "ATTEMPT_TIMEOUT",
    run.id,
    `Attempt ${run.attempt} of ${run.job.name} did not end within ${run.job.timeoutMs} ms. ` +
      "Raise `timeout`, or end the handler when `ctx.signal` aborts.",
  )
}
