/** The engine of one process: makes its parts, starts its loops together, and stops them in order. */
import type { AnyJob } from "../job/define.ts"
import type { Events } from "../observe/events.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { createStop } from "../runtime/stop.ts"
import { type Borrow, createBorrow } from "../store/borrowed/transaction.ts"
import { createCompleter } from "./attempts/attempt-transaction.ts"
import { createExecutor } from "./attempts/executor.ts"
import { createProgressWriter } from "./attempts/progress.ts"
import { createResults, type Results } from "./attempts/results.ts"
import { createSettler } from "./attempts/settler.ts"
import type { EngineConfig } from "./config.ts"
import { createTellEffects, type TellEffects } from "./effects.ts"
import { createEnqueuer, type Enqueuer } from "./enqueue/enqueuer.ts"
import { createStoredJobs, type StoredJobs } from "./enqueue/stored-jobs.ts"
import { createVisibility, type Visibility } from "./enqueue/visibility.ts"
import { type Loop, runLoop } from "./loop.ts"
import { createBulk } from "./process/bulk.ts"
import { createGrowth } from "./process/dead-letter-growth.ts"
import { createLease } from "./process/lease.ts"
import { createOverrides, type Overrides } from "./process/overrides.ts"
import { createReaper, type Reaper } from "./process/reaper.ts"
import { createStats, type Stats } from "./process/stats.ts"
import { createTroubles } from "./process/troubles.ts"
import { createUpkeep, type Upkeep } from "./process/upkeep.ts"
import { createVacuum } from "./process/vacuum.ts"
import { createWakeups, type Wakeups } from "./process/wakeups.ts"
import { createWatch } from "./process/watch.ts"
import { type Admissions, createAdmissions } from "./queue/admissions.ts"
import { type Arrivals, createArrivals } from "./queue/arrivals.ts"
import { createClaimDoubts } from "./queue/claim-doubts.ts"
import { createClaimLedger } from "./queue/claim-ledger.ts"
import { createClaimer } from "./queue/claimer.ts"
import { abortLost, longestTimeoutMs } from "./queue/held-attempts.ts"
import type { ReadyLane } from "./queue/lane.ts"
import { createMover, type Mover } from "./queue/mover.ts"
import { createPoolCheck, type PoolCheck } from "./queue/pool-check.ts"
import { createPoolLoop, type PoolLoop } from "./queue/pool-loop.ts"
import { createPromoter, type Promoter } from "./queue/promoter.ts"
import { createReconciler } from "./schedules/reconciler.ts"
import { createScheduler } from "./schedules/scheduler.ts"
import { shutDown } from "./shutdown.ts"

export interface Engine {
  readonly events: Events
  /** The jobs that this process has handlers for. */
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly results: Results
  readonly wakeups: Wakeups
  readonly poolCheck: PoolCheck
  readonly enqueuer: Enqueuer
  readonly storedJobs: StoredJobs
  /** Lends the transactions of callers to operations. */
  readonly borrow: Borrow
  readonly visibility: Visibility
  readonly admissions: Admissions
  /** Waits of workers that have no loop here. */
  readonly arrivals: Arrivals
  readonly mover: Mover
  readonly overrides: Overrides
  readonly poolLoops: readonly PoolLoop[]
  readonly promoter: Promoter
  readonly scheduler: Loop
  readonly reaper: Reaper
  readonly lease: Loop
  readonly watch: Loop
  readonly reconciler: Loop
  readonly upkeep: Upkeep
  readonly growth: Loop
  readonly bulk: Loop
  readonly stats: Stats
  /** Tells the effects of an operation, after its commit. */
  readonly tell: TellEffects
  /** Opens the lease and makes what the first run needs, once. Claims begin with `start`. */
  readonly open: () => Promise<void>
  readonly start: () => Promise<void>
  /** Claims and starts nothing more. `stop` must follow. */
  readonly close: () => void
  /** Ends claims, gives handlers time to finish, aborts the rest, and gives back every run that is left. */
  readonly stop: (graceMs: number, lastWritesMs?: number) => Promise<void>
}

/** The longest wait of a start for declared schedules. A schedule that another session has locked is declared later. */
const DECLARING_MS = 30_000
/** How long a stop waits, after the grace, for the last writes. */
const LAST_WRITES_MS = 5_000
/** How long a stop waits for running admissions and for the last statistics. */
const LAST_ADMISSIONS_MS = 1_000

export function createEngine(runtime: Runtime, events: Events, config: EngineConfig): Engine {
  const claiming = createStop()
  const living = createStop()
  const claimLoops: Promise<void>[] = []
  const upkeepLoops: Promise<void>[] = []
  const lifeLoops: Promise<void>[] = []
  const version = config.version ?? null
  const identity = { worker: `${runtime.facts.hostname}:${runtime.facts.pid}`, version }
  const troubles = createTroubles(events, runtime.database.schema)
  const { failed } = troubles

  const results = createResults({ runtime, onFailure: failed("results") })
  const wakeups = createWakeups({
    runtime,
    isOn: config.wakeups,
    handlers: {
      onReady: wakePools,
      onWaiting: () => promoter.bell.ring(),
      onRescheduled: () => scheduler.bell.ring(),
      onBulk: () => bulk.bell.ring(),
      onOverridden: () => overrides.bell.ring(),
      onCancelled: (run, by) => {
        for (const poolLoop of poolLoops) poolLoop.cancel(run, { by })
      },
      // The watch reads from the row whether the message is true.
      onToldOfCancel: (run) => {
        if (poolLoops.some((poolLoop) => poolLoop.has(run))) watch.bell.ring()
      },
      onMissed: () => watch.bell.ring(),
    },
  })
  const admissions = createAdmissions({
    runtime,
    onReady: wakeups.ready,
    onDoubt: () => wakePools(undefined),
  })
  const arrivals = createArrivals(runtime)
  const onParked = () => admissions.bell.ring()
  const onEnded = () => {
    wakeups.overridden()
    admissions.bell.ring()
  }
  const overrides = createOverrides({ runtime, events, onEnded })
  const claims = createClaimLedger()
  const vacuum = createVacuum(runtime, failed("vacuum"))
  const settler = createSettler({
    onEnded: (run) => {
      claims.end(run)
      vacuum.ended()
    },
    // The claim no longer holds this run. Otherwise its row would stay as long as the lease.
    onFenced: claims.end,
    onCounted: (run, end) => stats.count(run, end),
    runtime,
    events,
    identity,
    retryOf: overrides.retryOf,
    isBusy: () => poolLoops.some((poolLoop) => poolLoop.isBusy()),
    onSucceeded: (job, durationMs) => watch.succeeded(job, durationMs),
    onFinished: results.tell,
    // Otherwise a scheduler elsewhere finds it when it is due.
    onDied: (schedule) => config.isScheduler && scheduler.died(schedule),
    onReturned: (lane) => (lane ? wakeups.ready(lane) : wakeups.waiting()),
    onRoom: admissions.admit,
    onWritten: () => {
      for (const poolLoop of poolLoops) poolLoop.written()
    },
    onFailure: failed("settler"),
  })
  const lease = createLease({
    runtime,
    pools: [...config.pools.keys()],
    jobs: config.isWorker ? [...config.jobs.keys()] : [],
    version,
    leaseMs: config.leaseMs,
    renewEveryMs: config.renewEveryMs,
    longestTimeoutMs: () => longestTimeoutMs(poolLoops),
    onLost: (lost, because) => {
      // Ends of lost runs are still sent to the database: the fence decides.
      events.emit({ type: "lease.lost", lease: lost, runs: abortLost(poolLoops, lost), because })
      // The database may have known earlier, and then claims found no runs although some were ready.
      wakePools(undefined)
    },
    onBlocked: (blocked) => events.emit({ type: "worker.blocked", ...blocked }),
    onHeartbeatFailure: failed("heartbeat"),
  })
  const doubts = createClaimDoubts({ runtime, lease, identity, onReady: () => wakePools(undefined) })
  const attempts = {
    host: runtime,
    completer: createCompleter(runtime, identity),
    progress: createProgressWriter(runtime),
  }
  const poolLoops = [...config.pools].map(([pool, slots]) => {
    const { jobs, leaseMs, overrunGraceMs } = config
    return createPoolLoop({
      runtime,
      pool,
      jobs,
      lease,
      claims,
      claimer: createClaimer({ runtime, pool, jobs, lease, claims, doubts }),
      createExecutor: (on) =>
        createExecutor({
          runtime,
          events,
          pool,
          slots,
          leaseMs,
          overrunGraceMs,
          lease,
          settler,
          overrides,
          attempts,
          ...on,
        }),
    })
  })
  const promoter = createPromoter({ runtime, onReady: wakeups.ready, onParked })
  const reaper = createReaper({
    runtime,
    events,
    lease,
    leaseMs: config.leaseMs,
    everyMs: config.renewEveryMs,
    onReady: wakeups.ready,
    onRoom: admissions.admit,
    onLost: (lost) => stats.countLost(lost),
  })
  const watch = createWatch({ runtime, events, lease, poolLoops, everyMs: config.renewEveryMs })
  const mover = createMover({
    runtime,
    events,
    onReady: wakeups.ready,
    onLimits: admissions.admit,
    onResumed: () => wakePools(undefined),
    onEnded: () => wakeups.resumed(),
  })
  const stats = createStats({
    runtime,
    lease,
    slots: () =>
      poolLoops.map(({ pool, running }) => ({ slots: config.pools.get(pool) ?? 0, used: running().length })),
  })
  const tell = createTellEffects({
    events,
    wakeups,
    admissions,
    results,
    mover,
    countCancelled: stats.countCancelled,
    count: stats.count,
  })
  const { declareSchedules } = config
  const reconciler = createReconciler({
    runtime,
    events,
    jobs: config.jobs,
    version: config.version,
    declareSchedules: declareSchedules && (() => declareSchedules({ runtime, tell })),
  })
  const visibility = createVisibility({
    runtime,
    onReady: wakeups.ready,
    onWaiting: wakeups.waiting,
    onParked,
  })
  const scheduler = createScheduler({
    runtime,
    events,
    onReady: wakeups.ready,
    onParked: admissions.admit,
    onDisplaced: (displaced) => tell({ displaced }),
  })
  const growth = createGrowth(runtime, events, config.growth)
  const bulk = createBulk({ runtime, tell }, config.carryOnBulk)
  const upkeep = createUpkeep(runtime, failed("upkeep"))
  const isOpen = () => opening !== undefined
  const poolCheck = createPoolCheck({ runtime, events, served: config.pools, isOpen })
  const enqueuer = createEnqueuer(runtime, doubts, wakeups.announcement)

  function wakePools(lane: ReadyLane | undefined): void {
    arrivals.ring(lane)
    for (const poolLoop of poolLoops)
      if (lane === undefined || lane.pool === poolLoop.pool) poolLoop.wake(lane)
  }

  let opening: Promise<void> | undefined

  /** After a failure, the next call tries again. */
  function open(): Promise<void> {
    opening ??= openOnce().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function openOnce(): Promise<void> {
    await upkeep.prepare()
    await lease.open()
    await overrides.tick(claiming.signal)
    events.emit({ type: "worker.started", lease: lease.id(), pools: [...config.pools.keys()] })
  }

  /** After a failure, the next call continues where this one ended. */
  async function start(): Promise<void> {
    await open()
    const run = (loop: Loop, until: AbortSignal) =>
      runLoop(runtime, troubles.watched(loop), troubles.loopFailed(loop.name), until)
    // The lease must be renewed while the rest is being set up.
    if (lifeLoops.length === 0) {
      lifeLoops.push(run(lease, living.signal), lease.beat(living.signal), run(watch, living.signal))
    }
    await wakeups.listen()
    if (runtime.database.abilities.inherits) await reaper.inherit()
    const loops = [
      ...(config.isScheduler ? [scheduler] : []),
      reaper,
      reconciler,
      overrides,
      mover,
      admissions,
      promoter,
      ...poolLoops,
    ]
    if (claimLoops.length > 0) return
    claimLoops.push(...loops.map((loop) => run(loop, claiming.signal).then(loop.swept)))
    upkeepLoops.push(
      ...[upkeep, growth, bulk, stats].map((loop) => run(loop, claiming.signal).then(loop.swept)),
    )
    await declared()
  }

  /** Resolves when the declared schedules are in the database, after a timeout, or when a stop begins. */
  async function declared(): Promise<void> {
    const raceOver = new AbortController()
    const patience = AbortSignal.any([raceOver.signal, claiming.signal])
    await Promise.race([reconciler.tried, runtime.sleep(DECLARING_MS, patience)])
    raceOver.abort()
  }

  function close(): void {
    claiming.abort()
    for (const poolLoop of poolLoops) poolLoop.close()
  }

  let stopping: Promise<void> | undefined
  const graceOver = createStop()

  function stop(graceMs: number, lastWritesMs: number = LAST_WRITES_MS): Promise<void> {
    // A second stop with a shorter grace shortens the grace of the first.
    void runtime.sleep(graceMs, graceOver.signal).then(() => graceOver.abort())
    stopping ??= stopOnce(lastWritesMs)
    return stopping
  }

  async function stopOnce(lastWritesMs: number): Promise<void> {
    vacuum.close()
    const loops = { claimLoops, upkeepLoops, lifeLoops }
    const parts = { runtime, poolLoops, lease, doubts, close, ...loops, living, lastWritesMs }
    const unfinished = await shutDown(parts, graceOver)
    // Last admissions save parked runs from waiting for the sweep of another process. The stop waits a limited time.
    const raceOver = new AbortController()
    const last = Promise.all([
      admissions.close(),
      stats.write().catch((error: unknown) => failed("stats")(error, 1)),
    ])
    await Promise.race([last, runtime.sleep(LAST_ADMISSIONS_MS, raceOver.signal)])
    raceOver.abort()
    settler.close()
    results.close()
    visibility.close()
    wakeups.close()
    if (opening !== undefined) events.emit({ type: "worker.stopped", lease: lease.id(), unfinished })
  }

  return {
    events,
    results,
    wakeups,
    poolCheck,
    enqueuer,
    storedJobs: createStoredJobs(runtime),
    borrow: createBorrow(runtime.database.schema),
    visibility,
    admissions,
    arrivals,
    mover,
    overrides,
    poolLoops,
    promoter,
    scheduler,
    reaper,
    lease,
    watch,
    reconciler,
    upkeep,
    growth,
    bulk,
    stats,
    tell,
    jobs: config.jobs,
    open,
    start,
    close,
    stop,
  }
}
