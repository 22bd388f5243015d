/** Enqueues runs: writes them once, starts them at once where that is possible, or tells whoever can. */

import type { Engine } from "../../engine/engine.ts"
import { limitKeyOf, type NewRun, type Written } from "../../engine/enqueue/new-run.ts"
import { type ClaimedRun, claimNameOf, type Fence, handedOffRun } from "../../engine/queue/claimed-run.ts"
import type { Reservation } from "../../engine/queue/pool-loop.ts"
import type { AnyJob } from "../../job/define.ts"
import { borrow } from "../../store/borrowed.ts"
import type { Opened } from "../application.ts"

/** How many runs may go past the queue at once: as many as one claim would take. */
const MOST_HANDED_OFF = 1_000

/** Writes the runs in a transaction of their own. */
export async function enqueueRuns(
  { runtime, engine }: Opened,
  job: AnyJob,
  runs: readonly NewRun[],
): Promise<Written> {
  const slots = reserveSlots(engine, job, runs)
  const written = await engine.enqueuer.write(job, runs, slots).catch((error) => {
    slots?.cancel()
    throw error
  })
  await runtime.crashPoint("enqueue.written")
  const handed = written.went.find(({ state }) => state === "running")
  if (slots && handed) {
    const due = Math.floor(handed.now_ms)
    slots.start(handedOff(job, runs, { fence: slots, due, claimedAtMs: runtime.monotonicMs() }))
  } else {
    slots?.cancel()
  }
  tell(engine, job, runs, written)
  checkPools(engine, job, runs)
  return written
}

/** In the order in which a claim would have brought them. */
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

/** Writes the runs in a transaction of the caller's; whoever can start them is told when it has committed. */
export async function enqueueRunsIn(
  { runtime, engine }: Opened,
  client: object,
  job: AnyJob,
  runs: readonly NewRun[],
): Promise<Written> {
  const runner = await borrow(client, runtime.database.schema)
  const written = await engine.enqueuer.writeIn(runner, job, runs)
  engine.visibility.watch(written.answers.filter(({ created }) => created).map(({ id }) => id))
  checkPools(engine, job, runs)
  return written
}

function checkPools(engine: Engine, job: AnyJob, runs: readonly NewRun[]): void {
  for (const { pool } of runs) engine.poolCheck.entered(pool ?? job.pool, job.name)
}

/**
 * Runs may go past the queue only when nobody waits in it, into slots that are free, with nothing to wait for and
 * nothing to be written down before their start; all of them or none.
 */
function reserveSlots(engine: Engine, job: AnyJob, runs: readonly NewRun[]): Reservation | undefined {
  if (job.concurrency !== null || job.onLost === "bury" || runs.length > MOST_HANDED_OFF) return undefined
  if (!runs.every((run) => mayPass(job, run))) return undefined
  return engine.poolLoops.find((poolLoop) => poolLoop.pool === job.pool)?.reserve(job.name, runs.length)
}

function mayPass(job: AnyJob, { delayMs, runAt, pool, key }: NewRun): boolean {
  return (delayMs ?? 0) <= 0 && runAt === null && key === null && (pool ?? job.pool) === job.pool
}

function tell(engine: Engine, job: AnyJob, runs: readonly NewRun[], { went }: Written): void {
  for (const { state, pool, solo, priority, rank, isTold = false } of went) {
    if (state === "ready") engine.wakeups.ready({ pool, solo, priority, rank }, { isTold })
    else if (state === "waiting") engine.wakeups.waiting()
    else if (state === "parked") engine.admissions.admit(runs.map((run) => limitKeyOf(job.name, run)))
  }
}
