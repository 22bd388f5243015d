/** The events and checks that both enqueues share: the one in its own transaction and the one in the caller's. */
import type { Engine } from "../../engine/engine.ts"
import type { EnqueueOutcome, NewRun } from "../../engine/enqueue/new-run.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { CarillonEvent } from "../../observe/events.ts"

export interface EnqueueRequest {
  readonly job: EnqueueSettings
  readonly runs: readonly NewRun[]
}

export type EnqueueAnswers = EnqueueOutcome["answers"]

type ReportingParts = Pick<Engine, "events" | "poolCheck">

/** One event for each new run. Empty without a listener for routine events: there may be fifty thousand runs. */
export function eventsOf(
  { events }: ReportingParts,
  request: EnqueueRequest,
  answers: EnqueueAnswers,
): CarillonEvent[] {
  if (!events.hearsRoutine()) return []
  const { job, runs } = request
  const enqueued: CarillonEvent[] = []
  for (const [index, { id, created }] of answers.entries()) {
    const pool = runs[index]?.pool ?? job.pool
    if (created) enqueued.push({ type: "run.enqueued", run: id, job: job.name, pool })
  }
  return enqueued
}

/** Checks the pool of each run. A run in a pool that no process serves would wait unnoticed. */
export function checkPools({ poolCheck }: ReportingParts, { job, runs }: EnqueueRequest): void {
  for (const { pool } of runs) poolCheck.entered(pool ?? job.pool, job.name)
}
