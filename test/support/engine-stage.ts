/** The engine of one process under control of a test: its loops tick on demand, its clock moves by hand. */

import { type EnqueueOptions, resolveEnqueue } from "../../src/api/runs/enqueue-options.ts"
import type { EngineConfig } from "../../src/engine/config.ts"
import { createEngine, type Engine } from "../../src/engine/engine.ts"
import type { PoolLoop } from "../../src/engine/queue/pool-loop.ts"
import type { AnyJob } from "../../src/job/define.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import { perform } from "../../src/operations/perform.ts"
import { enqueue as enqueueRuns } from "../../src/operations/runs/enqueue.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { type WatchedDatabase, watchDatabase } from "./watched-database.ts"

export interface EngineStage {
  readonly runtime: Runtime
  readonly engine: Engine
  /** The loop of the first pool. */
  readonly worker: PoolLoop
  readonly database: WatchedDatabase
  readonly events: readonly CarillonEvent[]
  /** Which runs were started, in their order. */
  readonly started: () => string[]
  /** Lets this much time pass for the process. */
  readonly pass: (ms: number) => void
  /** Writes this many runs, in one call, and returns their ids. */
  readonly enqueue: (
    job: AnyJob,
    count?: number,
    options?: EnqueueOptions | ((index: number) => EnqueueOptions),
  ) => Promise<string[]>
  /** One tick of the pool's loop. */
  readonly tick: () => Promise<number>
  /** Whether the pool's loop was woken since the last call. */
  readonly isRung: () => Promise<boolean>
  /** Resolves when no handler runs and every end is written. */
  readonly settled: () => Promise<void>
}

export interface StageOptions {
  readonly jobs: readonly AnyJob[]
  readonly pools?: Readonly<Record<string, number>>
  readonly wakeups?: boolean
  readonly declareSchedules?: EngineConfig["declareSchedules"]
}

const HOUR_MS = 3_600_000

/** On a migrated schema. */
export async function openEngineStage(on: Runtime, options: StageOptions): Promise<EngineStage> {
  const { jobs, pools = { default: 10 }, wakeups = true, declareSchedules } = options
  const database = watchDatabase(on.database)
  let nowMs = on.monotonicMs()
  const runtime: Runtime = { ...on, database, monotonicMs: () => nowMs }
  const events: CarillonEvent[] = []
  const channel = createEvents((error) => {
    throw error
  })
  channel.subscribe((event) => {
    events.push(event)
  })
  const engine = createEngine(runtime, channel, {
    jobs: new Map(jobs.map((job) => [job.name, job])),
    pools: new Map(Object.entries(pools)),
    leaseMs: HOUR_MS,
    renewEveryMs: HOUR_MS / 4,
    overrunGraceMs: HOUR_MS,
    isWorker: true,
    isScheduler: true,
    wakeups,
    version: undefined,
    declareSchedules,
  })
  await engine.open()
  const { signal } = new AbortController()
  await engine.reconciler.tick(signal)
  const [worker] = engine.poolLoops
  if (!worker) throw new Error("there is one worker for each pool")

  const enqueue: EngineStage["enqueue"] = async (job, count = 1, runOptions = {}) => {
    const runs = Array.from({ length: count }, (_, index) => {
      const given = typeof runOptions === "function" ? runOptions(index) : runOptions
      const resolved = resolveEnqueue(given, job.concurrency !== null)
      return { ...resolved, id: runtime.newId(), input: "null" }
    })
    const answers = await perform(engine.tell, enqueueRuns({ runtime, engine }, { job, runs }))
    return answers.map(({ id }) => id)
  }

  return {
    runtime,
    engine,
    worker,
    database,
    events,
    started: () => events.flatMap((event) => (event.type === "attempt.started" ? [event.run] : [])),
    pass: (ms) => {
      nowMs += ms
    },
    enqueue,
    tick: async () => {
      const restMs = await worker.tick(signal)
      await worker.swept()
      await worker.begun()
      return restMs
    },
    isRung: async () => {
      const enough = new AbortController()
      const rung = worker.bell.rest(60_000, enough.signal).then(() => !enough.signal.aborted)
      await new Promise((resolve) => setImmediate(resolve))
      enough.abort()
      return rung
    },
    settled: async () => {
      await worker.handled()
      await worker.settled()
    },
  }
}
