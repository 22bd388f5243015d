/** Reopens a group of dead letters that was resolved or ignored. */
import type { Done } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { changeGroup, type GroupChange } from "./group-state.ts"

export function reopen(runtime: Runtime, request: GroupChange): Promise<Done<boolean>> {
  const { job, fingerprint, by } = request
  return changeGroup(runtime, request, {
    action: "reopen",
    next: undefined,
    event: { type: "dead-letters.reopened", job, fingerprint, ...by },
  })
}
