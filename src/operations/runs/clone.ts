/** Makes a new run from a run in any state: with its input and settings, but for what the caller changes. */
import type { OperationResult } from "../../engine/effects.ts"
import { type CopyParts, type CopyRequest, copyRun } from "./copied.ts"
import type { EnqueueAnswers } from "./enqueued.ts"

export function clone(parts: CopyParts, request: CopyRequest): Promise<OperationResult<EnqueueAnswers>> {
  return copyRun(parts, request, "clone")
}
