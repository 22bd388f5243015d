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

/** How long a stop waits, after its grace, for the last writes; then the lease is left to expire. */
const LAST_WRITES_MS = 5_000

export function createEngine(runtime: Runtime, events: Events, config: EngineConfig): Engine {
  const claiming = new AbortController()
  const living = new AbortController()
  const claimLoops: Promise<void>[] = []
  const lifeLoops: Promise<void>[] = []
  const failed = (loop: string) => (error: unknown, failures: number) =>
    events.emit({ type: "loop.failed", loop, error, failures })

  const results = createResults({ runtime, onFailure: failed("results") })
  const settler = createSettler({
    runtime,
    events,
    onFinished: results.tell,
    onReturned: (pool, state) => (state === "ready" ? wakeups.ready(pool) : wakeups.waiting()),
    onFailure: failed("settler"),
  })
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
      settler.giveUpOn(lost)
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

  let opening: Promise<void> | undefined
  let isOpen = false

  /** After a failure the next call tries again. */
  function open(): Promise<void> {
    opening ??= openOnce().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function openOnce(): Promise<void> {
    await upkeep.tick(living.signal)
    await lease.open()
    isOpen = true
    events.emit({ type: "worker.started", lease: lease.id(), pools: [...config.pools.keys()] })
  }

  async function start(): Promise<void> {
    await open()
    // PGlite has one process: there is nobody else to reap, and nobody else to hear from.
    const { processes } = runtime.database.abilities
    if (processes) await wakeups.listen()
    const run = (loop: Loop, until: AbortSignal) => runLoop(runtime, loop, failed(loop.name), until)
    lifeLoops.push(run(lease, living.signal))
    for (const loop of [...(processes ? [reaper] : []), upkeep, promoter, ...workers]) {
      claimLoops.push(run(loop, claiming.signal))
    }
  }

  let stopping: Promise<void> | undefined
  const graceOver = new AbortController()

  function stop(graceMs: number): Promise<void> {
    // A second stop with less patience makes the first one hurry.
    void runtime.sleep(graceMs, graceOver.signal).then(() => graceOver.abort())
    stopping ??= stopOnce()
    return stopping
  }

  async function stopOnce(): Promise<void> {
    claiming.abort()
    await untilAborted(graceOver.signal, Promise.all(claimLoops))
    await untilAborted(graceOver.signal, Promise.all(workers.map((worker) => worker.handled())))
    graceOver.abort()
    const unfinished = workers.flatMap((worker) => worker.running())
    for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))
    const lastCall = new AbortController()
    void runtime.sleep(LAST_WRITES_MS, lastCall.signal).then(() => lastCall.abort())
    const work = Promise.all([...claimLoops, ...workers.map((worker) => worker.settled())])
    const isWritten = await untilAborted(lastCall.signal, work)
    living.abort()
    await untilAborted(lastCall.signal, Promise.all(lifeLoops))
    // Without this the lease expires by itself, later.
    if (isOpen && isWritten)
      await untilAborted(
        lastCall.signal,
        lease.retire().catch(() => {}),
      )
    lastCall.abort()
    settler.close()
    results.close()
    wakeups.close()
    if (isOpen) events.emit({ type: "worker.stopped", lease: lease.id(), unfinished: unfinished.length })
  }

  return { results, wakeups, workers, promoter, reaper, lease, open, start, stop }
}

/** Whether `work` ended before the signal. */
async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  const aborted = new Promise<boolean>((resolve) => {
    if (signal.aborted) resolve(false)
    signal.addEventListener("abort", () => resolve(false), { once: true })
  })
  const done = work.then(() => true)
  // What has ended already has ended in time.
  return Promise.race([done, aborted.then((late) => Promise.race([done, Promise.resolve(late)]))])
}

function stopReason(run: string): AttemptAborted {
  return new AttemptAborted(
    "STOPPING",
    run,
    "The process is stopping and its grace is over. The run goes back to the queue without being charged.",
  )
}
