/**
 * One try at a run, from its input to its outcome.
 *
 * An attempt ends when its handler ends or when it is told to end, whichever comes first. The handler itself
 * may go on after that; its slot stays taken until it really ends, but nothing it does counts any more. Under a limit
 * its run has a place, which stands for the handler: there the end is decided, but told only when the handler has ended.
 */
import { DEFAULTS } from "../../defaults.ts"
import { AttemptAborted, CarillonError, InputError, PayloadError } from "../../errors.ts"
import type { HandlerTransaction } from "../../job/context.ts"
import { encodePayload } from "../../job/payload.ts"
import { isVerdict, type Verdict } from "../../job/verdict.ts"
import { recordError } from "../../queue/error-record.ts"
import type { Outcome } from "../../queue/next-state.ts"
import { askFinal } from "../../queue/retry.ts"
import type { Host, InContext, Timer } from "../../runtime/host.ts"
import { createStop } from "../../runtime/stop.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"
import { AttemptContext, type ContextSource } from "./attempt-context.ts"
import { type AttemptLog, createAttemptLog } from "./attempt-log.ts"
import type { Completed, Completer, Completion } from "./attempt-transaction.ts"
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
  /** Whether its end is decided, and kept back until the handler has ended. */
  readonly holdsPlace: () => boolean
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
  /** Its handler is about to be called. Called once, before anything else is told. */
  readonly onBegin: (attempt: RunningAttempt) => void
  /** It is known how the attempt ended. Called once. */
  readonly onOutcome: (attempt: RunningAttempt, outcome: AttemptOutcome) => void
  /** It is decided how the attempt ends, and its handler goes on. Called at most once, before its outcome is told. */
  readonly onOverrun: (attempt: RunningAttempt, because: string) => void
  /** The handler has really ended. Called once, before or after the outcome is known. */
  readonly onEnded: (attempt: RunningAttempt) => void
}

/** How long a handler that was told to stop may take to finish or to give up by itself. */
const LAST_WORDS_MS = 1_000

export function startAttempt(
  parts: AttemptParts,
  run: ClaimedRun,
  listener: AttemptListener,
): RunningAttempt {
  const attempt = new Attempt(parts, run, listener)
  attempt.begin()
  return attempt
}

/** A class for the sake of those who execute tens of thousands in a second: its methods are made once. */
class Attempt implements RunningAttempt, ContextSource {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  readonly #parts: AttemptParts
  readonly #listener: AttemptListener
  /** Of its own: the handler sees nothing of who enqueues, cancels or was executed before. */
  readonly #within: InContext
  #timer: Timer | undefined
  // Most handlers ask for none of these.
  #controller: AbortController | undefined
  #log: AttemptLog | undefined
  #completion: Completion | undefined
  #abortedBy: AttemptAborted | undefined
  #lastWords: Timer | undefined
  #isOver = false
  #isDecided = false
  /** Decided, and not told before the handler has ended. */
  #kept: AttemptOutcome | undefined

  constructor(parts: AttemptParts, run: ClaimedRun, listener: AttemptListener) {
    this.run = run
    this.startedAtMs = parts.host.monotonicMs()
    this.#parts = parts
    this.#listener = listener
    this.#within = parts.host.newContext()
  }

  begin(): void {
    const { run } = this
    this.#listener.onBegin(this)
    this.#within(() => {
      if (run.timeoutMs !== null) {
        this.#timer = this.#parts.host.after(run.timeoutMs, () => this.abort(timeoutReason(run)))
      }
      void this.#handle()
    })
  }

  over(): boolean {
    return this.#isOver
  }

  holdsPlace(): boolean {
    return this.#kept !== undefined
  }

  logs(): string | null {
    return this.#log?.json() ?? null
  }

  signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = createStop()
      if (this.#abortedBy) this.#controller.abort(this.#abortedBy)
    }
    return this.#controller.signal
  }

  log(message: string, data?: unknown): void {
    this.#log ??= createAttemptLog(this.#parts.host)
    this.#log.add(message, data)
  }

  progress(value: unknown): void {
    this.#parts.progress.report(this.run, value)
  }

  transaction<Result>(body: (tx: HandlerTransaction) => Promise<Result>): Promise<Exclude<Result, Verdict>> {
    const made = this.#isOver ? Promise.reject(overError(this.run)) : this.#complete(body)
    // One that its handler forgets must not end the process: what becomes of it, the attempt itself looks after.
    made.catch(() => {})
    // A verdict is thrown.
    return made as Promise<Exclude<Result, Verdict>>
  }

  #complete<Result>(body: (tx: HandlerTransaction) => Promise<Result>): Promise<Result> {
    const { run, startedAtMs } = this
    this.#completion ??= this.#parts.completer.open({
      run,
      startedAtMs,
      logs: () => this.logs(),
      check: () => this.#check(),
    })
    return this.#completion.transaction(body)
  }

  /** Throws why the attempt must not complete its run any more. */
  #check(): void {
    // A handler that blocks the event loop keeps the timer from saying so.
    if (this.#isLate()) this.abort(timeoutReason(this.run))
    if (this.#abortedBy) throw this.#abortedBy
    if (this.#isOver) throw overError(this.run)
  }

  #isLate(): boolean {
    const { timeoutMs } = this.run
    return timeoutMs !== null && this.#parts.host.monotonicMs() - this.startedAtMs > timeoutMs
  }

  /** Runs the handler to its end; never rejects. */
  async #handle(): Promise<void> {
    let outcome: Outcome
    try {
      const { job, input } = this.run
      const parsed = job.parse(input)
      const value = parsed instanceof Promise ? await parsed : parsed
      const output = await job.execute(value, new AttemptContext(this))
      // What the handler has begun and not awaited is part of the attempt.
      const underWay = this.#completion?.underWay()
      if (underWay !== undefined) await underWay
      outcome = isVerdict(output)
        ? outcomeOf(output)
        : { kind: "succeeded", result: encodePayload(output, "result", DEFAULTS.resultBytes) }
    } catch (error) {
      outcome = outcomeOfThrown(this.run, error)
    }
    this.#isOver = true
    this.#decide(this.#judged(outcome))
    this.#tellKept()
    this.#listener.onEnded(this)
  }

  /** What the outcome counts as, now that the handler has ended. */
  #judged(outcome: Outcome): Outcome {
    // At a stop a result still counts, a failure does not: it was the stop's doing.
    if (this.#abortedBy && outcome.kind === "failed") return { kind: "released" }
    if (!this.#isLate()) return outcome
    return { kind: "timed_out", error: recordError(timeoutReason(this.run)) }
  }

  /** Once told to end, what a handler says is up to the reason: most throw because of it. */
  abort(reason: AttemptAborted): void {
    // Listeners of the signal are called in here, and so is what decides about another attempt.
    this.#within(() => this.#abort(reason))
  }

  #abort(reason: AttemptAborted): void {
    if (reason.code === "LEASE_LOST") this.#loseKept()
    const isAsked = this.#abortedBy !== undefined
    // One that is to be replaced has been asked to end; whatever else comes does not ask.
    if (this.#isOver || (isAsked && this.#abortedBy?.code !== "RUN_REPLACED")) return
    if (isAsked && reason.code === "RUN_REPLACED") return
    this.#abortedBy = reason
    this.#controller?.abort(reason)
    // The next one waits for its handler to end; the database knows for how long.
    if (reason.code === "RUN_REPLACED") return
    // A handler that never ends must not keep the process alive with a timer that has nothing left to say.
    this.#timer?.cancel()
    if (reason.code === "ATTEMPT_TIMEOUT") this.#decide({ kind: "timed_out", error: recordError(reason) })
    else if (reason.code === "LEASE_LOST") this.#decide({ kind: "lost" })
    else if (reason.code === "RUN_CANCELLED") this.#decide({ kind: "cancelled", error: recordError(reason) })
    else this.#lastWords = this.#parts.host.after(LAST_WORDS_MS, () => this.#decide({ kind: "released" }))
  }

  #decide(outcome: AttemptOutcome): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#timer?.cancel()
    this.#lastWords?.cancel()
    if (outcome.kind !== "lost" && this.#holdsOn()) this.#kept = outcome
    if (!this.#isOver) this.#listener.onOverrun(this, outcome.kind)
    if (this.#kept === undefined) this.#tellWhenKnown(outcome)
  }

  /** Whether its place is kept for the handler that goes on. One that has completed its run has none any more. */
  #holdsOn(): boolean {
    return !this.#isOver && mustHold(this.run) && this.#completion?.completed() === undefined
  }

  #tellKept(): void {
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) this.#tellWhenKnown(kept)
  }

  /** The lease is over, and the place with it. */
  #loseKept(): void {
    if (this.#kept === undefined) return
    this.#kept = undefined
    this.#tellWhenKnown({ kind: "lost" })
  }

  #tellWhenKnown(outcome: AttemptOutcome): void {
    // What is just being committed cannot be called back: whoever says otherwise meanwhile may be wrong.
    const ending = this.#completion?.ending()
    if (ending !== undefined) void ending.then(() => this.#tell(outcome))
    else this.#tell(outcome)
  }

  #tell(outcome: AttemptOutcome): void {
    // Once its end is committed, nothing that the handler says can change it.
    this.#listener.onOutcome(this, this.#completion?.completed() ?? outcome)
  }
}

/** Whether the place of a run is kept for a handler that goes on. */
function mustHold({ limited, job }: ClaimedRun): boolean {
  return limited && job.overrun !== "free"
}

function outcomeOfThrown(run: ClaimedRun, thrown: unknown): Outcome {
  try {
    if (isVerdict(thrown)) return outcomeOf(thrown)
  } catch {
    // A verdict that cannot be read is an error like any other.
  }
  if (isRefusal(thrown)) {
    // The same input will be refused again, and the same code will return the same result.
    return { kind: "failed", error: recordError(thrown), retryable: false }
  }
  const { isFinal, fault } = askFinal(run.retry, thrown)
  return { kind: "failed", error: recordError(thrown), retryable: !isFinal, fault }
}

function isRefusal(thrown: unknown): boolean {
  try {
    return thrown instanceof InputError || thrown instanceof PayloadError
  } catch {
    // A proxy may refuse even this question.
    return false
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
    default:
      // From a newer copy of this package.
      throw new TypeError(`A handler gave a verdict that this version does not know: ${kindOf(verdict)}.`)
  }
}

function kindOf(verdict: { readonly kind?: unknown }): string {
  return String(verdict.kind)
}

function said(code: string, reason: string) {
  return { ...recordError(reason), code }
}

function overError(run: ClaimedRun): CarillonError {
  return new CarillonError(
    "TRANSACTION_OVER",
    `The handler of run ${run.id} has ended, and its run with it. Ask for a transaction inside the handler, and await it.`,
  )
}

function timeoutReason(run: ClaimedRun): AttemptAborted {
  return new AttemptAborted(
    "ATTEMPT_TIMEOUT",
    run.id,
    `Attempt ${run.attempt} of ${run.job.name} did not end within ${run.timeoutMs} ms. ` +
      "Raise `timeout`, or end the handler when `ctx.signal` aborts.",
  )
}
