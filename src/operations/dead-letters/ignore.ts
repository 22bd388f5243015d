/** Ignores a group of dead letters: it is known, and needs no work. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { changeGroup, type GroupChange } from "./group-state.ts"

export function ignore(runtime: Runtime, request: GroupChange): Promise<OperationResult<boolean>> {
  const { job, fingerprint, by } = request
  return changeGroup(runtime, request, {
    action: "ignore",
    next: { state: "ignored", version: null },
    event: { type: "dead-letters.ignored", job, fingerprint, ...by },
  })
}
