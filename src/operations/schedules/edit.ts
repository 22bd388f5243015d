/** Gives a schedule another definition, for `put`, `patch` and declarations in the code. */
import type { OperationResult } from "../../engine/effects.ts"
import {
  type ChangeRequest,
  change,
  type PlannedChange,
  type StoredSchedule,
} from "../../engine/schedules/change.ts"
import { undecidedOf } from "../../engine/schedules/decisions.ts"
import {
  beginOf,
  type DueDecisions,
  nextOf,
  settleDue,
  settlePaused,
} from "../../engine/schedules/settle-due.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import { warningsAbout } from "./warnings.ts"
import { withEvents } from "./with-events.ts"

export interface EditRequest extends ChangeRequest {
  readonly definition: ScheduleDefinition
  /** Gives the new input to existing runs that have not started. */
  readonly appliesToQueued: boolean
  /** Throws if the edit is refused. */
  readonly check: (row: StoredSchedule) => void
}

/** The answer says whether the definition differs from the stored one. */
export async function edit(runtime: Runtime, request: EditRequest): Promise<OperationResult<boolean>> {
  const { definition, appliesToQueued, check } = request
  let after: StoredSchedule | undefined
  const done = await change(runtime, request, (row) => {
    check(row)
    if (isSame(row, definition)) return undefined
    after = { ...row, ...definition }
    return { ...edited(row, definition), queued: appliesToQueued ? "give input" : undefined }
  })
  return done.answer && after ? withEvents(done, warningsAbout(after)) : done
}

/** Are they the same definition? Definitions have a fixed order of keys, so equal definitions are equal texts. */
export function isSame(row: StoredSchedule, { job, spec, input, settings }: ScheduleDefinition): boolean {
  return row.job === job && row.spec === spec && row.input === input && row.settings === settings
}

/** The schedule with another definition. New times apply from now on, new settings to every undecided occurrence. */
export function edited(row: StoredSchedule, definition: ScheduleDefinition): PlannedChange {
  const { state: stateBefore, cursor: cursorBefore, next_occurrence: occurrence, next_at: due } = row
  const changed = { ...row, ...definition }
  if (row.spec === definition.spec && stateBefore !== "error") {
    const next = occurrence === null || due === null ? undefined : { occurrence, due }
    return { row: changed, cursor: cursorBefore, next, isEdit: true }
  }
  const settled = settleBefore(row)
  const cursor = beginOf(row, settled.cursor)
  const isPaused = stateBefore === "paused"
  const next = isPaused ? undefined : nextOf(changed, cursor)
  const state = isPaused ? "paused" : next ? "active" : "completed"
  const cause = isPaused ? row.cause : null
  // A pause begins at the cursor or before it, so that every occurrence until its end is skipped.
  const paused_at = row.paused_at === null ? null : Math.min(row.paused_at, cursor)
  return {
    row: { ...changed, state, cause, paused_at },
    cursor,
    next,
    isEdit: true,
    decided: settled.decided,
  }
}

/**
 * Decides the occurrences of the old definition, by the old definition. An occurrence that waits for its jitter is due
 * now, because the old definition ends here. A faulty schedule has no readable times, so nothing is decided for it.
 */
function settleBefore(row: StoredSchedule): DueDecisions {
  if (row.state !== "active" && row.paused_at === null) return { cursor: row.cursor, decided: [] }
  const scheduled = { ...undecidedOf(row), delays: { jitterMs: 0, spreadMs: 0 } }
  return row.paused_at === null
    ? settleDue(row, scheduled)
    : settlePaused(row, row.paused_at, "paused", scheduled)
}
