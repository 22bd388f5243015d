/** Enqueues runs: writes them once, starts one at once where that is possible, and tells whoever can start the rest. */
import { handedOffRun } from "../engine/claimed-run.ts"
import type { Engine } from "../engine/engine.ts"
import type { Written } from "../engine/enqueuer.ts"
import { limitKeyOf, type NewRun } from "../engine/new-run.ts"
import type { Reservation } from "../engine/worker.ts"
import type { AnyJob } from "../job/define.ts"
import { borrow } from "../store/borrowed.ts"
import type { Opened } from "./application.ts"

/** Writes the runs in a transaction of their own. */
export async function enqueueRuns(
  { runtime, engine }: Opened,
  job: AnyJob,
  runs: readonly NewRun[],
): Promise<Written> {
  const [only] = runs
  const slot = only && runs.length === 1 ? reserveSlot(engine, job, only) : undefined
  const written = await engine.enqueuer.write(job, runs, slot).catch((error) => {
    slot?.cancel()
    throw error
  })
  await runtime.crashPoint("enqueue.written")
  const handed = written.went.find(({ state }) => state === "running")
  if (slot && only && handed) {
    const { lease, claim } = slot
    const due = Math.floor(handed.now_ms)
    const claimedAtMs = runtime.monotonicMs()
    slot.start(handedOffRun({ run: only, job, fence: { lease, claim }, due, claimedAtMs }))
  } else {
    slot?.cancel()
  }
  tell(engine, job, runs, written)
  return written
}

/** Writes the runs in a transaction of the caller's; whoever can start them is told when it has committed. */
export async function enqueueRunsIn(
  { runtime, engine }: Opened,
  client: object,
  job: AnyJob,
  runs: readonly NewRun[],
): Promise<Written> {
  const written = await engine.enqueuer.writeIn(borrow(client, runtime.database.schema), job, runs)
  engine.visibility.watch(written.answers.filter(({ created }) => created).map(({ id }) => id))
  return written
}

/**
 * A run may go past the queue only when nobody waits in it, into a slot that is free, with nothing to wait for and
 * nothing to be written down before its start.
 */
function reserveSlot(engine: Engine, job: AnyJob, run: NewRun): Reservation | undefined {
  const { delayMs, runAt, pool, key } = run
  if ((delayMs ?? 0) > 0 || runAt !== null || key !== null || (pool ?? job.pool) !== job.pool)
    return undefined
  if (job.concurrency !== null || job.onLost === "bury") return undefined
  return engine.workers.find((worker) => worker.pool === job.pool)?.reserve(job.name)
}

function tell(engine: Engine, job: AnyJob, runs: readonly NewRun[], { went }: Written): void {
  for (const { state, pool, solo, priority, rank } of went) {
    if (state === "ready") engine.wakeups.ready({ pool, solo, priority, rank })
    else if (state === "waiting") engine.wakeups.waiting()
    else if (state === "parked") engine.admissions.admit(runs.map((run) => limitKeyOf(job.name, run)))
  }
}
