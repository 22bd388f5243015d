/** The slots of one pool: claimed runs go in, attempts are made, their ends come out. */
import type { AttemptAborted } from "../../errors.ts"
import type { Events } from "../../observe/events.ts"
import type { Outcome } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordStart } from "../../store/runs/record-start.ts"
import type { Lease } from "../process/lease.ts"
import { type ClaimedRun, factsOf } from "../queue/claimed-run.ts"
import { type AttemptOutcome, type AttemptParts, type RunningAttempt, startAttempt } from "./attempt.ts"
import { createOverruns } from "./overruns.ts"
import type { Settler } from "./settler.ts"

export interface Executor {
  readonly free: () => number
  /** Whether anything may be started now. */
  readonly isOpen: () => boolean
  /** How many more may be started before results have to be written. */
  readonly room: () => number
  /** Starts a run in a free slot; or ends it, if it may not be started any more. */
  readonly begin: (run: ClaimedRun) => void
  /** Gives a run back that was not started, without charging it. */
  readonly giveBack: (run: ClaimedRun) => void
  /** Keeps so many slots free of handlers; a negative number gives them back. */
  readonly keep: (slots: number) => void
  /** The attempts whose handlers have not ended, those that are stuck included. */
  readonly running: () => readonly RunningAttempt[]
  readonly isBusy: () => boolean
  readonly isRunning: (run: string) => boolean
  /** Runs whose handlers go on although their ends are known: others may be given them, and we ourselves after a grace. */
  readonly lingering: () => readonly string[]
  readonly abort: (run: string, reason: AttemptAborted) => void
  /** Starts nothing more. */
  readonly close: () => void
  /** Resolves when no handler runs that is not stuck. */
  readonly handled: () => Promise<void>
  /** Resolves when every outcome so far is written or lost; handlers that overran may still go on. */
  readonly settled: () => Promise<void>
}

export interface ExecutorParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly pool: string
  /** How long a handler may go on after its end is decided, before it is stuck. */
  readonly overrunGraceMs: number
  readonly slots: number
  readonly leaseMs: number
  readonly lease: Lease
  readonly settler: Settler
  readonly attempts: AttemptParts
  /** A slot has become free. */
  readonly onFree: () => void
  /** A run that was lingering is not any more, and may be claimed again. */
  readonly onLeft: () => void
}

export function createExecutor(parts: ExecutorParts): Executor {
  const { runtime, events, pool, slots, leaseMs, lease, settler, attempts, onFree, onLeft } = parts
  const running = new Map<string, RunningAttempt>()
  const lingering = new Map<string, RunningAttempt>()
  /** Those that keep places under limits for their handlers. */
  const holding = new Set<RunningAttempt>()
  /** Runs in our hands: from the start, or from being given back, to the written end. */
  const unsettled = createTally()
  const handled = createTally()
  /** Slots that are kept without a handler in them: it is about to start, or its end is being written down. */
  let kept = 0
  let closed = false

  const graceMs = parts.overrunGraceMs
  const overruns = createOverruns({ host: runtime, events, pool, slots, graceMs, onStuck })
  const listener = { onBegin, onOutcome, onOverrun, onEnded }

  function begin(run: ClaimedRun): void {
    // Lost since it was claimed: it is reaped with the rest of the old lease.
    if (run.lease !== lease.id()) return
    // It came back while it was claimed, and its handler from before goes on: the next claim leaves it out.
    if (running.has(run.id)) giveBack(run)
    else if (run.late) settleUnstarted(run, expired(run))
    else if (run.attempt > run.retry.attempts) settleUnstarted(run, exhausted(run))
    else if (run.recordedStart) void startRecorded(run)
    else start(run)
  }

  /** Written down before its handler runs: if this process does not survive it, that is charged. */
  async function startRecorded(run: ClaimedRun): Promise<void> {
    kept += 1
    unsettled.add(1)
    const { id, lease: held, claim } = run
    const recorded = await runtime.database
      .run(recordStart, { id, lease: held, claim }, { connection: "vital" })
      .catch(() => undefined)
    kept -= 1
    // Also if it was lost since then: what was running under the lease has been told by now, and this would never be.
    const isLost = recorded?.length === 0 || run.lease !== lease.id()
    if (isLost) events.emit({ type: "attempt.fenced", ...factsOf(run) })
    else if (recorded && !closed) start(run)
    else giveBack(run)
    unsettled.add(-1)
    onFree()
  }

  function start(run: ClaimedRun): void {
    if (events.hearsRoutine()) events.emit({ type: "attempt.started", ...factsOf(run) })
    unsettled.add(1)
    handled.add(1)
    // It may block the event loop for that long, beginning now.
    if (run.timeoutMs !== null) lease.mayTake(run.timeoutMs)
    startAttempt(attempts, run, listener)
  }

  /** Before its handler is called: its end may be decided before that first waits. */
  function onBegin(attempt: RunningAttempt): void {
    running.set(attempt.run.id, attempt)
  }

  function onOverrun(attempt: RunningAttempt, because: string): void {
    overruns.begin(attempt, because)
    if (!attempt.holdsPlace()) return
    // Its end is not to be written before the handler has ended, however long that takes.
    holding.add(attempt)
    unsettled.add(-1)
  }

  /** Its run goes on without it, also here. Its slot does not come back before it ends. */
  function onStuck(attempt: RunningAttempt): void {
    leave(attempt)
    handled.add(-1)
  }

  function onEnded(attempt: RunningAttempt): void {
    if (!overruns.end(attempt)) {
      leave(attempt)
      handled.add(-1)
    }
    onFree()
  }

  function leave(attempt: RunningAttempt): void {
    const { id } = attempt.run
    // By now it may be here once more.
    if (running.get(id) === attempt) running.delete(id)
    if (lingering.get(id) !== attempt) return
    lingering.delete(id)
    onLeft()
  }

  function onOutcome(attempt: RunningAttempt, outcome: AttemptOutcome): void {
    if (holding.delete(attempt)) unsettled.add(1)
    const crashing = runtime.crashPoint("attempt.ended")
    if (crashing instanceof Promise) void crashing.then(() => settle(attempt, outcome))
    else settle(attempt, outcome)
  }

  function settle(attempt: RunningAttempt, outcome: AttemptOutcome): void {
    const { run, startedAtMs } = attempt
    if (!attempt.over() && running.get(run.id) === attempt) lingering.set(run.id, attempt)
    const logs = attempt.logs()
    if (outcome.kind === "lost") {
      events.emit({ type: "attempt.fenced", ...factsOf(run) })
      unsettled.add(-1)
    } else if (outcome.kind === "completed") {
      const succeeded = { kind: "succeeded", result: outcome.result } as const
      settler.tellCompleted({ run, startedAtMs, outcome: succeeded, logs }, outcome.limitKeys)
      unsettled.add(-1)
    } else {
      // Its slot is free when its end is written, and not before.
      const keepsSlot = run.job.settle === "now"
      if (keepsSlot) kept += 1
      settler.settle({ run, startedAtMs, outcome, logs }, () => {
        unsettled.add(-1)
        if (keepsSlot) letGo()
      })
    }
  }

  function settleUnstarted(run: ClaimedRun, outcome: Outcome): void {
    unsettled.add(1)
    settler.settle({ run, startedAtMs: null, outcome, logs: null }, () => unsettled.add(-1))
  }

  function giveBack(run: ClaimedRun): void {
    if (run.lease === lease.id()) settleUnstarted(run, { kind: "released" })
  }

  function letGo(): void {
    kept -= 1
    onFree()
  }

  return {
    free: () => slots - running.size - overruns.slotsLost() - kept,
    // A crash now must not repeat too much, and what is started must have time to be settled.
    isOpen: () => !closed && !settler.isFull() && lease.remainingMs() >= leaseMs / 3,
    room: settler.room,
    begin,
    giveBack,
    keep: (count) => {
      kept += count
    },
    running: () => [...running.values(), ...overruns.stuck()],
    isBusy: () => running.size > 0,
    isRunning: (run) => running.has(run),
    lingering: () => [...lingering.keys()],
    abort: (run, reason) => running.get(run)?.abort(reason),
    close: () => {
      closed = true
      overruns.close()
    },
    handled: handled.zero,
    settled: unsettled.zero,
  }
}

/** Every allowed attempt was charged, some because their workers were lost: this run may be what kills them. */
function exhausted(run: ClaimedRun): Outcome {
  const message =
    `Not started: ${run.attempt - 1} attempts have been charged, ${run.retry.attempts} are allowed. ` +
    "History says what became of each."
  return { kind: "failed", error: { code: "ATTEMPTS_EXHAUSTED", message, stack: null }, retryable: false }
}

function expired(run: ClaimedRun): Outcome {
  const message = `Not started: run ${run.id} was to be started within a time that is over.`
  return { kind: "expired", error: { code: "RUN_EXPIRED", message, stack: null } }
}

/** Counts, and lets callers wait for zero. */
interface Tally {
  readonly add: (change: number) => void
  readonly count: () => number
  /** Resolves when the count is zero. */
  readonly zero: () => Promise<void>
}

function createTally(): Tally {
  let count = 0
  let waiting: (() => void)[] = []
  return {
    add: (change) => {
      count += change
      if (count > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    count: () => count,
    zero: () =>
      count === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
  }
}
