/** One process at work: its loops, started together and stopped in order. */
import { AttemptAborted } from "../errors.ts"
import type { AnyJob } from "../job/define.ts"
import type { Events } from "../observe/events.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { createLease } from "./lease.ts"
import { type Loop, runLoop } from "./loop.ts"
import { createPromoter } from "./promoter.ts"
import { createReaper, type Reaper } from "./reaper.ts"
import { createResults, type Results } from "./results.ts"
import { createSettler } from "./settler.ts"
import { createUpkeep } from "./upkeep.ts"
import { createWakeups, type Wakeups } from "./wakeups.ts"
import { abortLost, createWorker, type Worker } from "./worker.ts"

export interface EngineConfig {
  readonly jobs: ReadonlyMap<string, AnyJob>
  /** The pools this process serves, with their slots. */
  readonly pools: ReadonlyMap<string, number>
  readonly leaseMs: number
  readonly renewEveryMs: number
}

export interface Engine {
  readonly results: Results
  readonly wakeups: Wakeups
  readonly workers: readonly Worker[]
  readonly promoter: Loop
  readonly reaper: Reaper
  readonly lease: Loop
  /** Opens the lease and makes what the first run needs, once. Nothing is claimed before `start`. */
  readonly open: () => Promise<void>
  readonly start: () => Promise<void>
  /** No new claims, then time to finish, then an abort, then everything that is left goes back. */
  readonly stop: (graceMs: number) => Promise<void>
}

/** How long a stop waits for the last writes when the database does not answer; then the lease is left to expire. */
const LAST_WRITES_MS = 5_000

export function createEngine(runtime: Runtime, events: Events, config: EngineConfig): Engine {
  const claiming = new AbortController()
  const living = new AbortController()
  const claimLoops: Promise<void>[] = []
  const lifeLoops: Promise<void>[] = []
  const failed = (loop: string) => (error: unknown, failures: number) =>
    events.emit({ type: "loop.failed", loop, error, failures })

  const results = createResults(runtime)
  const settler = createSettler({ runtime, events, onFinished: results.tell, onFailure: failed("settler") })
  const ringWorkers = (pool: string | undefined) => {
    for (const worker of workers) if (pool === undefined || pool === worker.pool) worker.bell.ring()
  }
  const wakeups = createWakeups(runtime, { onReady: ringWorkers, onWaiting: () => promoter.bell.ring() })
  const lease = createLease({
    runtime,
    pools: [...config.pools.keys()],
    leaseMs: config.leaseMs,
    renewEveryMs: config.renewEveryMs,
    onLost: (lost) => {
      settler.drop(lost)
      events.emit({ type: "lease.lost", lease: lost, runs: abortLost(workers, lost) })
    },
  })
  const workers = [...config.pools].map(([pool, slots]) =>
    createWorker({ runtime, events, pool, slots, jobs: config.jobs, lease, settler }),
  )
  const promoter = createPromoter(runtime, wakeups.ready)
  const reaper = createReaper({
    runtime,
    events,
    lease,
    leaseMs: config.leaseMs,
    everyMs: config.renewEveryMs,
    onReady: wakeups.ready,
  })
  const upkeep = createUpkeep(runtime)

  const runWhileClaiming = (loop: Loop) => {
    claimLoops.push(runLoop(runtime, loop, failed(loop.name), claiming.signal))
  }

  let opened: Promise<void> | undefined
  const open = () => {
    opened ??= openOnce()
    return opened
  }

  async function openOnce(): Promise<void> {
    await upkeep.tick(living.signal)
    await lease.open()
    events.emit({ type: "worker.started", lease: lease.id(), pools: [...config.pools.keys()] })
  }

  async function start(): Promise<void> {
    await open()
    lifeLoops.push(runLoop(runtime, lease, failed(lease.name), living.signal))
    // PGlite has one process: there is nobody else to reap, and nobody else to hear from.
    if (runtime.database.abilities.processes) {
      runWhileClaiming(reaper)
      await wakeups.listen(ringWorkers, () => promoter.bell.ring())
    }
    for (const loop of [upkeep, promoter, ...workers]) runWhileClaiming(loop)
  }

  async function stop(graceMs: number): Promise<void> {
    claiming.abort()
    await within(LAST_WRITES_MS, Promise.all(claimLoops))
    await within(graceMs, Promise.all(workers.map((worker) => worker.idle())))
    const unfinished = workers.flatMap((worker) => worker.running())
    for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))
    const written = await within(LAST_WRITES_MS, Promise.all(workers.map((worker) => worker.settled())))
    living.abort()
    await within(LAST_WRITES_MS, Promise.all(lifeLoops))
    if (opened !== undefined) {
      if (written) await lease.retire().catch((error) => failed("stop")(error, 1))
      events.emit({ type: "worker.stopped", lease: lease.id(), unfinished: unfinished.length })
    }
    settler.close()
    results.close()
    await wakeups.close()
  }

  /** Whether `work` ended in time. */
  async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
    const done = new AbortController()
    const timeIsUp = runtime.sleep(ms, done.signal).then(() => false)
    const inTime = await Promise.race([work.then(() => true), timeIsUp])
    done.abort()
    return inTime
  }

  return { results, wakeups, workers, promoter, reaper, lease, open, start, stop }
}

function stopReason(run: string): AttemptAborted {
  return new AttemptAborted(
    "STOPPING",
    run,
    "The process is stopping and its grace is over. The run goes back to the queue without being charged.",
  )
}
