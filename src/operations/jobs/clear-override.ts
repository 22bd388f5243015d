/** Ends all overrides of a job: its settings are again what the code says. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { endOverrides } from "../../engine/process/end-overrides.ts"
import type { Runtime } from "../../runtime/runtime.ts"

export interface ClearOverrideRequest {
  readonly name: string
  readonly by: By
}

/** The answer says whether anything was overridden. */
export async function clearOverride(
  runtime: Runtime,
  { name, by }: ClearOverrideRequest,
): Promise<OperationResult<boolean>> {
  const settings = await endOverrides(runtime, { job: name, onlyOverdue: false, by })
  if (settings.length === 0) return { answer: false, effects: {} }
  await runtime.crashPoint("override.written")
  const ended = { type: "job.override-ended", job: name, settings, because: "cleared", ...by } as const
  const hasParked = settings.includes("concurrency")
  return { answer: true, effects: { isOverridden: true, hasParked, events: [ended] } }
}
