/** One pool of this process: free slots become claimed runs, claimed runs become attempts. */
import { DEFAULTS } from "../defaults.ts"
import { AttemptAborted } from "../errors.ts"
import type { AnyJob } from "../job/define.ts"
import type { Events } from "../observe/events.ts"
import type { Outcome } from "../queue/fate.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { type ClaimedRun, factsOf, type RunningAttempt, startAttempt } from "./attempt.ts"
import { createClaimer } from "./claimer.ts"
import type { Lease } from "./lease.ts"
import { createBell, type Loop } from "./loop.ts"
import type { Settler } from "./settler.ts"

export interface Worker extends Loop {
  readonly pool: string
  /** The attempts whose handlers have not ended. */
  readonly running: () => readonly RunningAttempt[]
  /** Resolves when no handler runs. */
  readonly handled: () => Promise<void>
  /** Resolves when every outcome so far is written or lost; handlers that overran may still go on. */
  readonly settled: () => Promise<void>
}

export interface WorkerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly pool: string
  readonly slots: number
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly lease: Lease
  readonly settler: Settler
}

/** How long a handler may take to end after it was told to, before that is worth a word. */
const OVERRUN_MS = 1_000

export function createWorker({ runtime, events, pool, slots, jobs, lease, settler }: WorkerParts): Worker {
  const bell = createBell(runtime)
  const claimer = createClaimer({ runtime, pool, jobs, lease })
  const running = new Map<string, RunningAttempt>()
  const unsettled = new Set<Promise<void>>()
  let emptyClaims = 0
  let ticking: Promise<number> | undefined

  async function tick(signal: AbortSignal): Promise<number> {
    const free = slots - running.size
    // The end of a handler rings the bell.
    if (free <= 0) return DEFAULTS.idlePollMs
    const runs = await claimer.claim(free, [...running.keys()])
    await runtime.crashPoint("claim.taken")
    for (const run of runs) begin(run, signal)
    emptyClaims = runs.length === 0 ? emptyClaims + 1 : 0
    if (runs.length === free) return 0
    return Math.min(DEFAULTS.idlePollMs, DEFAULTS.pollMs * 2 ** Math.max(0, emptyClaims - 1))
  }

  function begin(run: ClaimedRun, signal: AbortSignal): void {
    if (signal.aborted) track(settler.settle(run, null, { kind: "released" }))
    else if (run.attempt > run.job.retry.attempts) track(settler.settle(run, null, exhausted(run)))
    else start(run)
  }

  function start(run: ClaimedRun): void {
    events.emit({ type: "attempt.started", ...factsOf(run) })
    const attempt = startAttempt(runtime, run)
    running.set(run.id, attempt)
    void attempt.ended.then(() => {
      running.delete(run.id)
      bell.ring()
    })
    track(finish(attempt))
  }

  async function finish(attempt: RunningAttempt): Promise<void> {
    const { run } = attempt
    const outcome = await attempt.outcome
    await runtime.crashPoint("attempt.ended")
    if (!attempt.over()) void reportOverrun(attempt, outcome.kind)
    if (outcome.kind === "lost") events.emit({ type: "attempt.fenced", ...factsOf(run) })
    else await settler.settle(run, attempt.startedAtMs, outcome)
  }

  /** A handler that obeys its signal needs a moment to end; one that does not will not have ended after it. */
  async function reportOverrun(attempt: RunningAttempt, because: string): Promise<void> {
    const ended = new AbortController()
    void attempt.ended.then(() => ended.abort())
    await runtime.sleep(OVERRUN_MS, ended.signal)
    if (!attempt.over()) events.emit({ type: "attempt.overran", ...factsOf(attempt.run), because })
  }

  function track(settling: Promise<void>): void {
    const tracked = settling.finally(() => unsettled.delete(tracked))
    unsettled.add(tracked)
  }

  return {
    name: `worker ${pool}`,
    bell,
    pool,
    // One at a time, whoever asks: two would count the same free slots.
    tick: (signal) => {
      ticking ??= tick(signal).finally(() => {
        ticking = undefined
      })
      return ticking
    },
    running: () => [...running.values()],
    handled: async () => {
      while (running.size > 0) await Promise.all([...running.values()].map((attempt) => attempt.ended))
    },
    settled: async () => {
      while (unsettled.size > 0) await Promise.all(unsettled)
    },
  }
}

/** Every allowed attempt was charged, some because their workers were lost: this run may be what kills them. */
function exhausted(run: ClaimedRun): Outcome {
  const message =
    `Not started: ${run.attempt - 1} attempts have been charged, ${run.job.retry.attempts} are allowed. ` +
    "History says what became of each."
  return { kind: "failed", error: { code: "ATTEMPTS_EXHAUSTED", message, stack: null }, retryable: false }
}

/** Aborts the attempts that were claimed under a lease that is dead. */
export function abortLost(workers: readonly Worker[], lease: string): number {
  const lost = workers.flatMap((worker) => worker.running()).filter(({ run }) => run.lease === lease)
  for (const attempt of lost) {
    const message =
      `Run ${attempt.run.id} lost its lease during attempt ${attempt.run.attempt}; its result will be discarded. ` +
      "Keep the event loop free and the database reachable, so that the lease can be renewed."
    attempt.abort(new AttemptAborted("LEASE_LOST", attempt.run.id, message))
  }
  return lost.length
}
