/** Ends the pause of a job, a pool, a tenant or everything. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { removePause } from "../../store/pauses/remove.ts"

export interface ResumeRequest {
  readonly kind: PauseKind
  /** Empty for everything. */
  readonly name: string
  readonly by: By
}

/** The answer says whether there was a pause. */
export async function resume(
  runtime: Runtime,
  { kind, name, by }: ResumeRequest,
): Promise<OperationResult<boolean>> {
  const removed = await runtime.database.run(removePause, { kind, name, ...by })
  if (removed.length === 0) return { answer: false, effects: {} }
  await runtime.crashPoint("pause.written")
  const ended = { type: "pause.ended", kind, name, because: "resumed", ...by } as const
  return { answer: true, effects: { pause: "resumed", events: [ended] } }
}
