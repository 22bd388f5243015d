/**
 * One try at a run, from its input to its outcome.
 *
 * An attempt ends when its handler ends or when it is told to end, whichever comes first. The handler itself
 * may go on after that; its slot stays taken until it really ends, but nothing it does counts any more.
 */
import { DEFAULTS } from "../defaults.ts"
import { AttemptAborted, InputError, PayloadError } from "../errors.ts"
import type { JobContext } from "../job/context.ts"
import { encodePayload } from "../job/payload.ts"
import { isVerdict, type Verdict } from "../job/verdict.ts"
import { recordError } from "../queue/error-record.ts"
import type { Outcome } from "../queue/fate.ts"
import type { Host, Timer } from "../runtime/host.ts"
import { createAttemptContext } from "./attempt-context.ts"
import { type AttemptLog, createAttemptLog } from "./attempt-log.ts"
import type { Completed, Completer, Completion } from "./attempt-transaction.ts"
import type { ClaimedRun } from "./claimed-run.ts"
import type { ProgressWriter } from "./progress.ts"

/**
 * How an attempt ended; or that the run belongs to another worker now, so that there is nothing to write; or that its
 * end is already written.
 */
export type AttemptOutcome = Outcome | { readonly kind: "lost" } | Completed

export interface RunningAttempt {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  /** Whether the handler has really ended. */
  readonly over: () => boolean
  readonly abort: (reason: AttemptAborted) => void
  /** JSON of what the handler has logged, or null. */
  readonly logs: () => string | null
}

export interface AttemptParts {
  readonly host: Host
  readonly completer: Completer
  readonly progress: ProgressWriter
}

export interface AttemptListener {
  /** It is known how the attempt ended. Called once. */
  readonly onOutcome: (attempt: RunningAttempt, outcome: AttemptOutcome) => void
  /** The handler has really ended. Called once, before or after the outcome is known. */
  readonly onEnded: (attempt: RunningAttempt) => void
}

/** How long a handler that was told to stop may take to finish or to give up by itself. */
const LAST_WORDS_MS = 1_000

export function startAttempt(
  { host, completer, progress }: AttemptParts,
  run: ClaimedRun,
  { onOutcome, onEnded }: AttemptListener,
): RunningAttempt {
  const startedAtMs = host.monotonicMs()
  // Most handlers ask for none of these.
  let controller: AbortController | undefined
  let log: AttemptLog | undefined
  let completion: Completion | undefined
  let abortedBy: AttemptAborted | undefined
  let isOver = false
  let isDecided = false
  let lastWords: Timer | undefined

  const logs = () => log?.json() ?? null
  const signal = () => {
    if (!controller) {
      controller = new AbortController()
      if (abortedBy) controller.abort(abortedBy)
    }
    return controller.signal
  }
  const context = createAttemptContext({
    run,
    signal,
    progress,
    log: (message, data) => {
      log ??= createAttemptLog(host)
      log.add(message, data)
    },
    transaction: (body) => {
      completion ??= completer.open({ run, startedAtMs, logs, signal })
      return completion.transaction(body)
    },
  })
  const attempt: RunningAttempt = { run, startedAtMs, over: () => isOver, abort, logs }
  const timer =
    run.timeoutMs === null ? undefined : host.after(run.timeoutMs, () => abort(timeoutReason(run)))

  function decide(outcome: AttemptOutcome): void {
    if (isDecided) return
    isDecided = true
    timer?.cancel()
    lastWords?.cancel()
    // Once its end is committed, nothing that the handler says can change it.
    onOutcome(attempt, completion?.completed() ?? outcome)
  }

  /** Once told to end, what a handler says is up to the reason: most throw because of it. */
  function abort(reason: AttemptAborted): void {
    if (isOver || abortedBy) return
    // A handler that never ends must not keep the process alive with a timer that has nothing left to say.
    timer?.cancel()
    abortedBy = reason
    controller?.abort(reason)
    if (reason.code === "ATTEMPT_TIMEOUT") decide({ kind: "timed_out", error: recordError(reason) })
    else if (reason.code === "LEASE_LOST") decide({ kind: "lost" })
    else if (reason.code === "RUN_CANCELLED") decide({ kind: "cancelled", error: recordError(reason) })
    else lastWords = host.after(LAST_WORDS_MS, () => decide({ kind: "released" }))
  }

  void handle(run, context).then((outcome) => {
    isOver = true
    // At a stop a result still counts, a failure does not: it was the stop's doing.
    decide(abortedBy && outcome.kind === "failed" ? { kind: "released" } : outcome)
    onEnded(attempt)
  })
  return attempt
}

/** Runs the handler to its end; never rejects. */
async function handle(run: ClaimedRun, context: JobContext): Promise<Outcome> {
  try {
    const parsed = run.job.parse(run.input)
    const input = parsed instanceof Promise ? await parsed : parsed
    const output = await run.job.execute(input, context)
    if (isVerdict(output)) return outcomeOf(output)
    return { kind: "succeeded", result: encodePayload(output, "result", DEFAULTS.resultBytes) }
  } catch (error) {
    if (isVerdict(error)) return outcomeOf(error)
    return { kind: "failed", error: recordError(error), retryable: !isFinal(run, error) }
  }
}

/** What a handler says about its run instead of a result. */
function outcomeOf(verdict: Verdict): Outcome {
  switch (verdict.kind) {
    case "snooze":
      return { kind: "snoozed", forMs: verdict.forMs }
    case "cancel":
      return { kind: "cancelled", error: said("RUN_CANCELLED", verdict.reason) }
    case "bury":
      return { kind: "failed", error: said("RUN_BURIED", verdict.reason), retryable: false }
    case "retry":
      return {
        kind: "failed",
        error: said("RETRY_ASKED", verdict.reason),
        retryable: true,
        afterMs: verdict.afterMs,
      }
  }
}

function said(code: string, reason: string) {
  return { ...recordError(reason), code }
}

/** The same input will be refused again, the same code will return the same result, or the job said so. */
function isFinal(run: ClaimedRun, error: unknown): boolean {
  try {
    return error instanceof InputError || error instanceof PayloadError || run.retry.isFinal(error)
  } catch {
    // A proxy may refuse even these questions, and the job's own may fail.
    return false
  }
}

function timeoutReason(run: ClaimedRun): AttemptAborted {
  return new AttemptAborted(
    "ATTEMPT_TIMEOUT",
    run.id,
    `Attempt ${run.attempt} of ${run.job.name} did not end within ${run.timeoutMs} ms. ` +
      "Raise `timeout`, or end the handler when `ctx.signal` aborts.",
  )
}
