/** Enqueues runs of one job in the caller's transaction. The runs exist if that transaction commits. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { WriteLimits } from "../../engine/enqueue/enqueuer.ts"
import { FOR_ENQUEUES } from "../../store/session.ts"
import { checkPools, type EnqueueAnswers, type EnqueueRequest, eventsOf } from "./enqueued.ts"

export interface EnqueueInParts {
  /** The limits of the call, where it has some of its own. */
  readonly limits?: WriteLimits
  readonly engine: Pick<Engine, "enqueuer" | "borrow" | "visibility" | "poolCheck" | "events">
}

export interface EnqueueInRequest extends EnqueueRequest {
  /** The client of the caller's transaction. */
  readonly tx: object
}

/** Wakes no loop here: `visibility` watches for the caller's commit. */
export async function enqueueIn(
  { engine, limits }: EnqueueInParts,
  request: EnqueueInRequest,
): Promise<OperationResult<EnqueueAnswers>> {
  const { job, runs } = request
  const written = await engine.borrow(request.tx, FOR_ENQUEUES, (runner) => {
    limits?.onSent?.()
    return engine.enqueuer.writeIn(runner, job, runs)
  })
  engine.visibility.watch(written.answers.filter(({ created }) => created).map(({ id }) => id))
  checkPools(engine, request)
  return { answer: written.answers, effects: { events: eventsOf(engine, request, written.answers) } }
}
