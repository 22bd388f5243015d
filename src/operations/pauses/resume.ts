/** Ends the pause of a job or a pool. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { removePause } from "../../store/pauses/remove.ts"

export interface ResumeRequest {
  readonly kind: "job" | "pool"
  readonly name: string
  readonly by: By
}

/** The answer says whether there was a pause. */
export async function resume(
  { database }: Runtime,
  { kind, name, by }: ResumeRequest,
): Promise<OperationResult<boolean>> {
  const removed = await database.run(removePause, { kind, name, ...by })
  const isChanged = removed.length > 0
  return { answer: isChanged, effects: isChanged ? { pause: "resumed" } : {} }
}
