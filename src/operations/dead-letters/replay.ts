/** Puts a dead run back into the queue, as its next generation. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { notDead } from "./not-dead.ts"
import { replayBatch } from "./replay-batch.ts"

export interface ReplayRequest {
  readonly id: string
  readonly by: By
}

export async function replay(runtime: Runtime, { id, by }: ReplayRequest): Promise<OperationResult<void>> {
  const { answer, effects } = await replayBatch(runtime.database, {
    letters: [{ run: id, generation: null }],
    by,
  })
  if (answer.length === 0) throw notDead(id)
  return { answer: undefined, effects }
}
