/** One pool of this process: free slots become claimed runs, claimed runs become attempts. */
import { DEFAULTS } from "../defaults.ts"
import { AttemptAborted } from "../errors.ts"
import type { AnyJob } from "../job/define.ts"
import type { Events } from "../observe/events.ts"
import type { Outcome } from "../queue/fate.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { claimRuns } from "../store/runs/claim.ts"
import { type ClaimedRun, type RunningAttempt, startAttempt } from "./attempt.ts"
import type { Lease } from "./lease.ts"
import { createBell, type Loop } from "./loop.ts"
import type { Settler } from "./settler.ts"

export interface Worker extends Loop {
  readonly pool: string
  /** The attempts whose handlers have not ended. */
  readonly running: () => readonly RunningAttempt[]
  /** Resolves when every outcome so far is written or lost; handlers that overran may still go on. */
  readonly settled: () => Promise<void>
  /** Resolves when no handler runs and nothing waits to be settled. */
  readonly idle: () => Promise<void>
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

export function createWorker({ runtime, events, pool, slots, jobs, lease, settler }: WorkerParts): Worker {
  const bell = createBell(runtime)
  const running = new Map<string, RunningAttempt>()
  const unsettled = new Set<Promise<void>>()
  let emptyClaims = 0

  async function tick(signal: AbortSignal): Promise<number> {
    const free = slots - running.size
    // The end of a handler rings the bell.
    if (free <= 0) return DEFAULTS.idlePollMs
    const runs = await claim(free)
    await runtime.crashPoint("claim.taken")
    for (const run of runs) {
      if (signal.aborted) track(settler.settle(run, runtime.monotonicMs(), { kind: "released" }))
      else if (run.attempt > run.job.retry.attempts)
        track(settler.settle(run, runtime.monotonicMs(), exhausted(run)))
      else start(run)
    }
    if (runs.length === free) return 0
    emptyClaims = runs.length === 0 ? emptyClaims + 1 : 0
    return Math.min(DEFAULTS.idlePollMs, DEFAULTS.pollMs * 2 ** Math.max(0, emptyClaims - 1))
  }

  async function claim(limit: number): Promise<ClaimedRun[]> {
    const claimId = runtime.randomBits()
    const leaseId = lease.id()
    const names = [...jobs.keys()]
    const params = { lease: leaseId, claim: claimId, pool, jobs: names, except: [...running.keys()], limit }
    const rows = await runtime.database.run(claimRuns, params)
    // Lost while we claimed: these runs will be reaped with the rest of the old lease.
    if (lease.id() !== leaseId) return []
    return rows
      .sort((a, b) => b.priority - a.priority || Number(a.rank - b.rank))
      .flatMap((row) => {
        const job = jobs.get(row.job)
        return job
          ? [{ ...row, job, lease: leaseId, claim: claimId, attempt: row.attempt + 1, due: row.due_at }]
          : []
      })
  }

  function start(run: ClaimedRun): void {
    const facts = { run: run.id, job: run.job.name, pool, attempt: run.attempt }
    events.emit({ type: "attempt.started", ...facts })
    const attempt = startAttempt(runtime, run)
    running.set(run.id, attempt)
    void attempt.ended.then(() => {
      running.delete(run.id)
      bell.ring()
    })
    track(finish(attempt))
  }

  function track(settling: Promise<void>): void {
    const tracked = settling.finally(() => unsettled.delete(tracked))
    unsettled.add(tracked)
  }

  async function finish(attempt: RunningAttempt): Promise<void> {
    const { run } = attempt
    const outcome = await attempt.outcome
    const facts = { run: run.id, job: run.job.name, pool, attempt: run.attempt }
    await runtime.crashPoint("attempt.ended")
    if (!attempt.over()) events.emit({ type: "attempt.overran", ...facts, because: outcome.kind })
    if (outcome.kind === "lost") events.emit({ type: "attempt.fenced", ...facts })
    else await settler.settle(run, attempt.startedAtMs, outcome)
  }

  return {
    name: `worker ${pool}`,
    bell,
    tick,
    pool,
    running: () => [...running.values()],
    settled: async () => {
      while (unsettled.size > 0) await Promise.all(unsettled)
    },
    idle: async () => {
      while (unsettled.size > 0 || running.size > 0) {
        await Promise.all([...unsettled, ...[...running.values()].map((attempt) => attempt.ended)])
      }
    },
  }
}

/** Every allowed attempt was charged because its worker was lost: this run may be what kills them. */
function exhausted(run: ClaimedRun): Outcome {
  const message = `Not started again: ${run.attempt - 1} of ${run.job.retry.attempts} attempts are used up, the last by a lost worker.`
  return { kind: "failed", error: { code: "LEASE_LOST", message, stack: null }, retryable: false }
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
