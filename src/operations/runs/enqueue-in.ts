/** Enqueues runs of one job in a transaction of the caller, which decides whether the runs exist. */
import type { Done } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { borrow } from "../../store/borrowed.ts"
import type { EnqueueAnswers, EnqueueRequest } from "./enqueue.ts"

export interface EnqueueInParts {
  readonly runtime: Runtime
  readonly engine: Pick<Engine, "enqueuer" | "visibility" | "poolCheck">
}

export interface EnqueueInRequest extends EnqueueRequest {
  /** The client of the caller's transaction. */
  readonly tx: object
}

/** It has no effects yet: `visibility` watches for the commit of the caller. */
export async function enqueueIn(
  { runtime, engine }: EnqueueInParts,
  { tx, job, runs }: EnqueueInRequest,
): Promise<Done<EnqueueAnswers>> {
  const runner = await borrow(tx, runtime.database.schema)
  const written = await engine.enqueuer.writeIn(runner, job, runs)
  engine.visibility.watch(written.answers.filter(({ created }) => created).map(({ id }) => id))
  for (const { pool } of runs) engine.poolCheck.entered(pool ?? job.pool, job.name)
  return { answer: written.answers, effects: {} }
}
