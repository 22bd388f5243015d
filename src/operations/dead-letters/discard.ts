/** Discards a dead letter. History keeps the attempts of the run. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { discardBatch } from "./discard-batch.ts"
import { notDead } from "./not-dead.ts"

export interface DiscardRequest {
  readonly id: string
  readonly by: By
}

export async function discard(runtime: Runtime, { id, by }: DiscardRequest): Promise<OperationResult<void>> {
  const { answer, effects } = await discardBatch(runtime.database, {
    letters: [{ run: id, generation: null }],
    by,
  })
  if (answer.length === 0) throw notDead(id)
  return { answer: undefined, effects }
}
