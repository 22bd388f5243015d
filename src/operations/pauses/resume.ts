/** Ends the pause of a job, a pool, a tenant or everything, at once or with a ramp. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { PauseKind } from "../../queue/pause-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { rampPause } from "../../store/pauses/ramp.ts"
import { removePause } from "../../store/pauses/remove.ts"

export interface ResumeRequest {
  readonly kind: PauseKind
  /** Empty for everything. */
  readonly name: string
  readonly by: By
  /** Over which time the parked runs return. Null: at once. */
  readonly rampMs: number | null
}

/** The answer says whether there was a pause. */
export async function resume(
  runtime: Runtime,
  { kind, name, by, rampMs }: ResumeRequest,
): Promise<OperationResult<boolean>> {
  if (rampMs !== null) return resumeGradually(runtime, { kind, name, by, rampMs })
  const removed = await runtime.database.run(removePause, { kind, name, ...by })
  if (removed.length === 0) return { answer: false, effects: {} }
  await runtime.crashPoint("pause.written")
  const ended = { type: "pause.ended", kind, name, because: "resumed", ...by } as const
  return { answer: true, effects: { pause: "resumed", events: [ended] } }
}

/** The mover ends the pause when it has parked what is ready, and then releases the runs. */
async function resumeGradually(
  runtime: Runtime,
  { kind, name, by, rampMs }: ResumeRequest & { readonly rampMs: number },
): Promise<OperationResult<boolean>> {
  const resumed = await runtime.database.run(rampPause, { kind, name, rampMs, ...by })
  await runtime.crashPoint("pause.written")
  return { answer: resumed.length > 0, effects: { pause: "paused" } }
}
