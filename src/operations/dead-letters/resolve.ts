/** Resolves a group of dead letters: its cause is fixed, in a version or as of now. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { changeGroup, type GroupChange } from "./group-state.ts"

export interface ResolveRequest extends GroupChange {
  /** The version that has the fix. Null: every later death counts against it. */
  readonly version: string | null
}

export function resolve(runtime: Runtime, request: ResolveRequest): Promise<OperationResult<boolean>> {
  const { job, fingerprint, version, by } = request
  return changeGroup(runtime, request, {
    action: "resolve",
    next: { state: "resolved", version },
    event: { type: "dead-letters.resolved", job, fingerprint, version, ...by },
  })
}
