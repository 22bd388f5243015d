/**
 * Performs an operation in the transaction of a caller, if there is one.
 *
 * Then none of its effects is told: whether the transaction commits is not known here. The loops of all processes find
 * what it has written by polling.
 */
import type { OperationResult } from "../engine/effects.ts"
import type { Engine } from "../engine/engine.ts"
import type { WriteLimits } from "../engine/enqueue/enqueuer.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { makePartitions } from "../store/attempts/partitions.ts"
import { databaseIn } from "../store/borrowed/database.ts"
import { makeFirePartitions } from "../store/fires/partitions.ts"
import { FOR_CHANGES } from "../store/session.ts"
import { perform } from "./perform.ts"

export interface PerformInParts {
  readonly runtime: Runtime
  readonly engine: Pick<Engine, "borrow" | "tell">
  /** The limits of the call, where it has some of its own. */
  readonly limits?: WriteLimits
}

export async function performIn<Answer>(
  { runtime, engine, limits }: PerformInParts,
  tx: object | undefined,
  operation: (runtime: Runtime) => Promise<OperationResult<Answer>>,
): Promise<Answer> {
  if (tx === undefined) return perform(engine.tell, operation(runtime))
  return engine.borrow(tx, FOR_CHANGES, async (borrowed) => {
    limits?.onSent?.()
    const database = databaseIn(borrowed, runtime.database)
    // Some drivers roll back after any error, so a write must not find out that a partition is missing.
    await makePartitions(database, 1)
    await makeFirePartitions(database)
    const { answer } = await operation({ ...runtime, database })
    return answer
  })
}
