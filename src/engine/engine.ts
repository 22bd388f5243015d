/** One process at work: its loops, started together and stopped in order. */
import type { AnyJob } from "../job/define.ts"
import type { Events } from "../observe/events.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { createLease } from "./lease.ts"
import { type Loop, runLoop } from "./loop.ts"
import { createPromoter } from "./promoter.ts"
import { createReaper, type Reaper } from "./reaper.ts"
import { createResults, type Results } from "./results.ts"
import { createSettler } from "./settler.ts"
import { shutDown } from "./shutdown.ts"
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
    const parts = { runtime, workers, lease, claiming, claimLoops, living, lifeLoops }
    const unfinished = await shutDown(parts, graceOver)
    settler.close()
    results.close()
    wakeups.close()
    if (opening !== undefined) events.emit({ type: "worker.stopped", lease: lease.id(), unfinished })
  }

  return { results, wakeups, workers, promoter, reaper, lease, open, start, stop }
}
