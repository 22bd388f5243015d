/** The slots of one pool: starts attempts for claimed runs, and sends their ends to the settler. */
import type { AttemptAborted } from "../../errors.ts"
import type { Events } from "../../observe/events.ts"
import type { Outcome } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordStart } from "../../store/runs/record-start.ts"
import type { Lease } from "../process/lease.ts"
import type { AppliedOverrides } from "../process/overrides.ts"
import { type ClaimedRun, factsOf } from "../queue/claimed-run.ts"
import { type AttemptOutcome, type AttemptParts, type RunningAttempt, startAttempt } from "./attempt.ts"
import { createOverruns } from "./overruns.ts"
import type { Settler } from "./settler.ts"
import { exhausted, expired } from "./unstarted.ts"

export interface Executor {
  readonly free: () => number
  /** May runs start now? */
  readonly isOpen: () => boolean
  /** How many runs may start before results must be written. */
  readonly room: () => number
  /** Starts a run in a free slot. A run that must not start any more is ended instead. */
  readonly begin: (run: ClaimedRun) => void
  /** Gives back a run that was not started. The attempt is not charged. */
  readonly giveBack: (run: ClaimedRun) => void
  /** Keeps so many slots free. A negative number frees them again. */
  readonly keep: (slots: number) => void
  /** The attempts whose handlers have not returned, including stuck ones. */
  readonly running: () => readonly RunningAttempt[]
  readonly isBusy: () => boolean
  readonly isRunning: (run: string) => boolean
  /**
   * Runs whose handlers run on after the end of their attempts. Other workers may claim them at once, and this one
   * after the overrun grace.
   */
  readonly lingering: () => readonly string[]
  readonly abort: (run: string, reason: AttemptAborted) => void
  /** Starts nothing more. */
  readonly close: () => void
  /** Resolves when every handler has returned or is stuck. */
  readonly handled: () => Promise<void>
  /** Resolves when every outcome so far is written or lost. Handlers that overran may still run. */
  readonly settled: () => Promise<void>
}

export interface ExecutorParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly pool: string
  /** How long a handler may run on after its end is decided, before it counts as stuck. */
  readonly overrunGraceMs: number
  readonly slots: number
  readonly leaseMs: number
  readonly lease: Lease
  readonly settler: Settler
  readonly overrides: AppliedOverrides
  readonly attempts: AttemptParts
  /** A slot has become free. */
  readonly onFree: () => void
  /** A lingering run may be claimed again. */
  readonly onLeft: () => void
}

export function createExecutor(parts: ExecutorParts): Executor {
  const { runtime, events, pool, slots, leaseMs, lease, settler, overrides, attempts, onFree, onLeft } = parts
  const running = new Map<string, RunningAttempt>()
  const lingering = new Map<string, RunningAttempt>()
  /** Attempts that hold places under limits until their handlers return. */
  const holding = new Set<RunningAttempt>()
  /** Runs between their start, or their return to the queue, and their written end. */
  const unsettled = createTally()
  const handled = createTally()
  /** Slots without a handler: it is about to start, or its end is being written. */
  let kept = 0
  let closed = false

  const graceMs = parts.overrunGraceMs
  const overruns = createOverruns({ host: runtime, events, pool, slots, graceMs, onStuck })
  const listener = { onBegin, onOutcome, onOverrun, onEnded }

  function begin(run: ClaimedRun): void {
    // The lease was lost after the claim. The run is reaped with the rest of the old lease.
    if (run.lease !== lease.id()) return
    // The run came back while an earlier handler of it still runs here. The next claim leaves it out.
    if (running.has(run.id)) giveBack(run)
    else if (run.late) settleUnstarted(run, expired(run))
    else if (run.attempt > overrides.retryOf(run).attempts) {
      settleUnstarted(run, exhausted(run, overrides.retryOf(run).attempts))
    } else if (run.recordedStart) void startRecorded(run)
    else start(run)
  }

  /** Records the start before the handler runs, so that the attempt is charged if this process does not survive it. */
  async function startRecorded(run: ClaimedRun): Promise<void> {
    kept += 1
    unsettled.add(1)
    const { id, lease: held, claim } = run
    const recorded = await runtime.database
      .run(recordStart, { id, lease: held, claim }, { connection: "vital" })
      .catch(() => undefined)
    kept -= 1
    // A start after the loss of a lease would not be told of the loss: attempts are told once, when it happens.
    const isLost = recorded?.length === 0 || run.lease !== lease.id()
    if (isLost) events.emit({ type: "attempt.fenced", ...factsOf(run) })
    else if (recorded && !closed) start(run)
    else giveBack(run)
    unsettled.add(-1)
    onFree()
  }

  function start(claimed: ClaimedRun): void {
    const run = overrides.starting(claimed)
    if (events.hearsRoutine()) events.emit({ type: "attempt.started", ...factsOf(run) })
    unsettled.add(1)
    handled.add(1)
    // The handler may block the event loop for that long, from now on.
    if (run.timeoutMs !== null) lease.mayTake(run.timeoutMs)
    startAttempt(attempts, run, listener)
  }

  /** Called before the handler, because the end may be decided before the handler first waits. */
  function onBegin(attempt: RunningAttempt): void {
    running.set(attempt.run.id, attempt)
  }

  function onOverrun(attempt: RunningAttempt, because: string): void {
    overruns.begin(attempt, because)
    if (!attempt.holdsPlace()) return
    // The end is written after the handler has returned, however long that takes.
    holding.add(attempt)
    unsettled.add(-1)
  }

  /** The run goes on without the handler, perhaps here. The slot stays taken until the handler returns. */
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
    // The same run may be running here again.
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
      // With `settle: "now"` the slot is free once the end is written.
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
    // A crash must not repeat too many results, and what starts must have time to be settled.
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

/** Counts up and down, and lets callers wait for zero. */
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
