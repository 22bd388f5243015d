/** Changes what operators decided about a group of dead letters, and records it in the audit. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import type { StoredGroupState } from "../../queue/error-group.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordAudit } from "../../store/audit/record.ts"
import { lockGroupState } from "../../store/error-groups/lock.ts"
import { putGroupState } from "../../store/error-groups/put.ts"
import { removeGroupState } from "../../store/error-groups/remove.ts"

export interface GroupName {
  readonly job: string
  readonly fingerprint: string
}

export interface GroupChange extends GroupName {
  readonly by: By
}

interface NewState {
  readonly action: "resolve" | "ignore" | "reopen"
  /** `undefined` opens the group. */
  readonly next: StoredGroupState | undefined
  readonly event: CarillonEvent
}

/** Answers whether the decision was another one before. */
export async function changeGroup(
  { database }: Runtime,
  { job, fingerprint, by }: GroupChange,
  { action, next, event }: NewState,
): Promise<OperationResult<boolean>> {
  const group = { job, fingerprint }
  const changed = await database.transaction(async (tx) => {
    const [before] = await tx.run(lockGroupState, group)
    // To resolve a group again counts from now on, so a group that has regressed is resolved once more.
    const isSame =
      before === undefined ? next === undefined : before.state === "ignored" && next?.state === "ignored"
    if (isSame) return false
    if (next === undefined) await tx.run(removeGroupState, group)
    else await tx.run(putGroupState, { ...group, ...next })
    await tx.run(recordAudit, {
      ...by,
      action: `dead-letters.${action}`,
      subject: `dead-letters:${job}/${fingerprint}`,
      before: JSON.stringify(before ?? { state: "open" }),
      after: JSON.stringify(next ?? { state: "open" }),
    })
    return true
  })
  return { answer: changed, effects: changed ? { events: [event] } : {} }
}
