/**
 * One try at a run, from its input to its outcome.
 *
 * An attempt ends when its handler returns or when it is told to end, whichever comes first. A handler that runs on
 * keeps its slot until it returns, but its result no longer counts. If the run holds a place under a limit, the place
 * stands for the handler: the end is decided at once and told when the handler has returned.
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
import type { CommittedSuccess, Completer, Completion } from "./attempt-transaction.ts"
import type { ProgressWriter } from "./progress.ts"

/**
 * How an attempt ended. `lost`: the run belongs to another worker, so there is nothing to write. `completed`: the
 * handler's transaction has written the end.
 */
export type AttemptOutcome = Outcome | { readonly kind: "lost" } | CommittedSuccess

export interface RunningAttempt {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  /** Has the handler returned? */
  readonly over: () => boolean
  /** Is the end decided, and kept back until the handler returns? */
  readonly holdsPlace: () => boolean
  readonly abort: (reason: AttemptAborted) => void
  /** JSON of the lines that the handler logged, or null. */
  readonly logs: () => string | null
}

export interface AttemptParts {
  readonly host: Host
  readonly completer: Completer
  readonly progress: ProgressWriter
}

export interface AttemptListener {
  /** The handler is about to be called. Called once, before the other functions. */
  readonly onBegin: (attempt: RunningAttempt) => void
  /** The outcome is known. Called once. */
  readonly onOutcome: (attempt: RunningAttempt, outcome: AttemptOutcome) => void
  /** The end is decided and the handler runs on. Called at most once, before `onOutcome`. */
  readonly onOverrun: (attempt: RunningAttempt, because: string) => void
  /** The handler has returned. Called once, before or after `onOutcome`. */
  readonly onEnded: (attempt: RunningAttempt) => void
}

/** How long a handler that was told to stop may take to return or throw by itself. */
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

/** A class, so that tens of thousands of attempts a second share their methods. */
class Attempt implements RunningAttempt, ContextSource {
  readonly run: ClaimedRun
  readonly startedAtMs: number
  readonly #parts: AttemptParts
  readonly #listener: AttemptListener
  /** A context of its own: the handler inherits no async context of an enqueue, a cancellation or another attempt. */
  readonly #within: InContext
  #timer: Timer | undefined
  // Most handlers use none of these.
  #controller: AbortController | undefined
  #log: AttemptLog | undefined
  #completion: Completion | undefined
  #abortedBy: AttemptAborted | undefined
  #lastWords: Timer | undefined
  #isOver = false
  #isDecided = false
  /** The decided outcome, kept back until the handler returns. */
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
    // A handler may forget to await it. The attempt deals with the rejection, so it must not end the process.
    made.catch(() => {})
    // A verdict is thrown instead.
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

  /** Throws if the attempt must no longer complete its run. */
  #check(): void {
    // The timer cannot fire while the handler blocks the event loop.
    if (this.#isLate()) this.abort(timeoutReason(this.run))
    if (this.#abortedBy) throw this.#abortedBy
    if (this.#isOver) throw overError(this.run)
  }

  #isLate(): boolean {
    const { timeoutMs } = this.run
    return timeoutMs !== null && this.#parts.host.monotonicMs() - this.startedAtMs > timeoutMs
  }

  /** Runs the handler to its end. Never rejects. */
  async #handle(): Promise<void> {
    let outcome: Outcome
    try {
      const { job, input } = this.run
      const parsed = job.parse(input)
      const value = parsed instanceof Promise ? await parsed : parsed
      const output = await job.execute(value, new AttemptContext(this))
      // A transaction that the handler did not await is part of the attempt.
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

  /** The outcome that counts, now that the handler has returned. */
  #judged(outcome: Outcome): Outcome {
    // When the process stops, a result counts and a failure does not: the stop caused it.
    if (this.#abortedBy && outcome.kind === "failed") return { kind: "released" }
    if (!this.#isLate()) return outcome
    return { kind: "timed_out", error: recordError(timeoutReason(this.run)) }
  }

  /** The reason decides the outcome, because most handlers throw when they are told to end. */
  abort(reason: AttemptAborted): void {
    // Listeners of the signal run inside this call.
    this.#within(() => this.#abort(reason))
  }

  #abort(reason: AttemptAborted): void {
    if (reason.code === "LEASE_LOST") this.#loseKept()
    const isAsked = this.#abortedBy !== undefined
    // A replaced run has been asked to end. Every other reason still ends it.
    if (this.#isOver || (isAsked && this.#abortedBy?.code !== "RUN_REPLACED")) return
    if (isAsked && reason.code === "RUN_REPLACED") return
    this.#abortedBy = reason
    this.#controller?.abort(reason)
    // The newer run waits for this handler. The database knows for how long.
    if (reason.code === "RUN_REPLACED") return
    // A handler that never returns must not keep the process alive through a timer.
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

  /** Is the place kept for the running handler? A run that its handler has completed holds no place. */
  #holdsOn(): boolean {
    return !this.#isOver && mustHold(this.run) && this.#completion?.completed() === undefined
  }

  #tellKept(): void {
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) this.#tellWhenKnown(kept)
  }

  /** The place goes with the lease. */
  #loseKept(): void {
    if (this.#kept === undefined) return
    this.#kept = undefined
    this.#tellWhenKnown({ kind: "lost" })
  }

  #tellWhenKnown(outcome: AttemptOutcome): void {
    // A commit under way cannot be called back. Its answer decides.
    const ending = this.#completion?.ending()
    if (ending !== undefined) void ending.then(() => this.#tell(outcome))
    else this.#tell(outcome)
  }

  #tell(outcome: AttemptOutcome): void {
    // A committed end cannot change any more.
    this.#listener.onOutcome(this, this.#completion?.completed() ?? outcome)
  }
}

/** Is the place of the run kept until its handler returns? */
function mustHold({ limited, job }: ClaimedRun): boolean {
  return limited && job.overrun !== "free"
}

function outcomeOfThrown(run: ClaimedRun, thrown: unknown): Outcome {
  try {
    if (isVerdict(thrown)) return outcomeOf(thrown)
  } catch {
    // An unreadable verdict counts as an error.
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
    // A proxy may throw even here.
    return false
  }
}

/** The outcome that a verdict of the handler asks for. */
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
    `The handler of run ${run.id} has ended, and its run with it. ` +
      "Ask for a transaction inside the handler, and await it.",
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
