/** Reopens a group of dead letters that was resolved or ignored. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { changeGroup, type GroupChange } from "./group-state.ts"

export function reopen(runtime: Runtime, request: GroupChange): Promise<OperationResult<boolean>> {
  const { job, fingerprint, by } = request
  return changeGroup(runtime, request, {
    action: "reopen",
    next: undefined,
    event: { type: "dead-letters.reopened", job, fingerprint, ...by },
  })
}
