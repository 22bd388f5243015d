/** Enqueues runs of one job: writes them once, and starts them at once if this process has free slots for them. */
import type { Effects, OperationResult } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { WriteLimits } from "../../engine/enqueue/enqueuer.ts"
import { type EnqueueOutcome, limitKeyOf, type NewRun } from "../../engine/enqueue/new-run.ts"
import { type ClaimedRun, claimNameOf, type Fence, handedOffRun } from "../../engine/queue/claimed-run.ts"
import type { Reservation } from "../../engine/queue/pool-loop.ts"
import { type AnyJob, isJob } from "../../job/define.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { checkPools, type EnqueueAnswers, type EnqueueRequest, eventsOf } from "./enqueued.ts"

/** The parts of the process that an enqueue uses. */
export interface EnqueueParts {
  readonly runtime: Runtime
  /** The limits of the call, where it has some of its own. */
  readonly limits?: WriteLimits
  readonly engine: Pick<Engine, "enqueuer" | "poolLoops" | "poolCheck" | "events">
}

/** The most runs handed off at once: as many as one claim takes. */
const MOST_HANDED_OFF = 1_000

/** Writes all of the runs or none, in its own transaction. */
export async function enqueue(
  { runtime, engine, limits }: EnqueueParts,
  request: EnqueueRequest,
): Promise<OperationResult<EnqueueAnswers>> {
  const { job, runs } = request
  // Without a handler there is nothing to hand off to.
  const handled = isJob(job) ? job : undefined
  const slots = handled && reserveSlots(engine, handled, runs)
  const written = await engine.enqueuer.write(job, runs, slots, limits).catch((error) => {
    slots?.cancel()
    throw error
  })
  await runtime.crashPoint("enqueue.written")
  const runningLane = written.lanes.find(({ state }) => state === "running")
  if (handled && slots && runningLane) {
    const due = Math.floor(runningLane.now_ms)
    slots.start(handedOff(handled, runs, { fence: slots, due, claimedAtMs: runtime.monotonicMs() }))
  } else {
    slots?.cancel()
  }
  checkPools(engine, request)
  const events = eventsOf(engine, request, written.answers)
  return { answer: written.answers, effects: { ...effectsOfEnqueue(job, runs, written), events } }
}

/** The runs handed off, in the order in which a claim would have returned them. */
function handedOff(
  job: AnyJob,
  runs: readonly NewRun[],
  when: { readonly fence: Fence; readonly due: number; readonly claimedAtMs: number },
): ClaimedRun[] {
  const claimName = claimNameOf(when.fence)
  return runs
    .map((run) => handedOffRun({ run, job, claimName, ...when }))
    .sort((one, other) => other.priority - one.priority)
}

/**
 * Reserves a slot for each run, or none. Runs are handed off only if the queue is empty, slots are free, the runs are
 * due, and no start has to be written before the handler runs (`onLost: "bury"`).
 */
function reserveSlots(
  { poolLoops }: EnqueueParts["engine"],
  job: AnyJob,
  runs: readonly NewRun[],
): Reservation | undefined {
  if (job.concurrency !== null || job.onLost === "bury" || runs.length > MOST_HANDED_OFF) return undefined
  if (!runs.every((run) => canBeHandedOff(job, run))) return undefined
  return poolLoops.find((poolLoop) => poolLoop.pool === job.pool)?.reserve(job.name, runs.length)
}

function canBeHandedOff(job: AnyJob, { delayMs, runAt, pool, key }: NewRun): boolean {
  return (delayMs ?? 0) <= 0 && runAt === null && key === null && (pool ?? job.pool) === job.pool
}

/** Has one entry for each lane instead of one for each run: there may be fifty thousand runs. */
export function effectsOfEnqueue(
  job: EnqueueSettings,
  runs: readonly NewRun[],
  { lanes }: EnqueueOutcome,
): Effects {
  return {
    ready: lanes.filter(({ state }) => state === "ready"),
    hasWaiting: lanes.some(({ state }) => state === "waiting"),
    admit: lanes.some(({ state }) => state === "parked") ? runs.map((run) => limitKeyOf(job.name, run)) : [],
  }
}
