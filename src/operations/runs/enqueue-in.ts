/** Enqueues runs of one job in the caller's transaction. The runs exist if that transaction commits. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { WriteLimits } from "../../engine/enqueue/enqueuer.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { borrow } from "../../store/borrowed.ts"
import { checkPools, type EnqueueAnswers, type EnqueueRequest, eventsOf } from "./enqueued.ts"

export interface EnqueueInParts {
  readonly runtime: Runtime
  /** The limits of the call, where it has some of its own. */
  readonly limits?: WriteLimits
  readonly engine: Pick<Engine, "enqueuer" | "visibility" | "poolCheck" | "events">
}

export interface EnqueueInRequest extends EnqueueRequest {
  /** The client of the caller's transaction. */
  readonly tx: object
}

/** Wakes no loop here: `visibility` watches for the caller's commit. */
export async function enqueueIn(
  { runtime, engine, limits }: EnqueueInParts,
  request: EnqueueInRequest,
): Promise<OperationResult<EnqueueAnswers>> {
  const { job, runs } = request
  const runner = await borrow(request.tx, runtime.database.schema)
  limits?.onSent?.()
  const written = await engine.enqueuer.writeIn(runner, job, runs)
  engine.visibility.watch(written.answers.filter(({ created }) => created).map(({ id }) => id))
  checkPools(engine, request)
  return { answer: written.answers, effects: { events: eventsOf(engine, request, written.answers) } }
}
