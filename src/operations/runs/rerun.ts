/** Runs an ended run once more: a new run with the same input and settings, which points at the old one. */
import type { OperationResult } from "../../engine/effects.ts"
import { RunError } from "../../errors.ts"
import { isLive } from "../../queue/run-state.ts"
import { type CopyParts, type CopyRequest, copyRun } from "./copied.ts"
import type { EnqueueAnswers } from "./enqueued.ts"

export async function rerun(
  parts: CopyParts,
  request: CopyRequest,
): Promise<OperationResult<EnqueueAnswers>> {
  const { id, state, schedule } = request.original
  if (isLive(state)) throw new RunError("RUN_NOT_ENDED", id, `Run ${id} is ${state}, so it cannot be rerun.`)
  if (schedule) {
    const message = `Run ${id} belongs to the schedule ${schedule.name}, so it cannot be rerun.`
    throw new RunError("RUN_SCHEDULED", id, message)
  }
  return copyRun(parts, request, "rerun")
}
