/** What the enqueues in a transaction of their own and in one of the caller have in common: checks and events. */
import type { Engine } from "../../engine/engine.ts"
import type { EnqueueOutcome, NewRun } from "../../engine/enqueue/new-run.ts"
import type { AnyJob } from "../../job/define.ts"
import type { CarillonEvent } from "../../observe/events.ts"

export interface EnqueueRequest {
  readonly job: AnyJob
  readonly runs: readonly NewRun[]
}

export type EnqueueAnswers = EnqueueOutcome["answers"]

type Hearing = Pick<Engine, "events" | "poolCheck">

/** One event for each new run, if anyone listens to such events. There may be fifty thousand runs. */
export function eventsOf(
  { events }: Hearing,
  request: EnqueueRequest,
  answers: EnqueueAnswers,
): CarillonEvent[] {
  if (!events.hearsRoutine()) return []
  const { job, runs } = request
  const told: CarillonEvent[] = []
  for (const [index, { id, created }] of answers.entries()) {
    const pool = runs[index]?.pool ?? job.pool
    if (created) told.push({ type: "run.enqueued", run: id, job: job.name, pool })
  }
  return told
}

/** Has the pool of each run looked at: a run in a pool that no process serves would wait unnoticed. */
export function checkPools({ poolCheck }: Hearing, { job, runs }: EnqueueRequest): void {
  for (const { pool } of runs) poolCheck.entered(pool ?? job.pool, job.name)
}
