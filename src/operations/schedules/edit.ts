/** Gives a schedule another definition. `put`, `patch` and a declaration of the code all edit through here. */
import type { Done } from "../../engine/effects.ts"
import {
  type Changed,
  type ChangeRequest,
  change,
  type StoredSchedule,
} from "../../engine/schedules/change.ts"
import { undecidedOf } from "../../engine/schedules/decided.ts"
import { beginOf, nextOf, type Settled, settleDue, settlePaused } from "../../engine/schedules/settle-due.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import { warningsAbout } from "./warnings.ts"
import { withEvents } from "./with-events.ts"

export interface EditRequest extends ChangeRequest {
  readonly definition: ScheduleDefinition
  /** Gives the new input to runs that were made and have not started. */
  readonly appliesToQueued: boolean
  /** Throws where the edit is refused. */
  readonly check: (row: StoredSchedule) => void
}

/** The answer is whether the definition differs from the stored one. */
export async function edit(runtime: Runtime, request: EditRequest): Promise<Done<boolean>> {
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

/** Definitions are written in one order of keys, so equal definitions are equal texts. */
export function isSame(row: StoredSchedule, { job, spec, input, settings }: ScheduleDefinition): boolean {
  return row.job === job && row.spec === spec && row.input === input && row.settings === settings
}

/** A schedule with another definition. New times count from now on, new settings for every undecided occurrence. */
export function edited(row: StoredSchedule, definition: ScheduleDefinition): Changed {
  const { state: before, cursor: at, next_occurrence: occurrence, next_at: due } = row
  const changed = { ...row, ...definition }
  if (row.spec === definition.spec && before !== "error") {
    const next = occurrence === null || due === null ? undefined : { occurrence, due }
    return { row: changed, cursor: at, next, isEdit: true }
  }
  const settled = settleBefore(row)
  const cursor = beginOf(row, settled.cursor)
  const next = before === "paused" ? undefined : nextOf(changed, cursor)
  const state = before === "paused" ? "paused" : next ? "active" : "completed"
  const cause = before === "paused" ? row.cause : null
  // A pause begins no later than its cursor, so that every occurrence until its end is skipped.
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
 * Decides by the old definition what was planned by it. A schedule with a fault cannot be asked for its times. An
 * occurrence that waits for its jitter is due now, because the old definition ends here.
 */
function settleBefore(row: StoredSchedule): Settled {
  if (row.state !== "active" && row.paused_at === null) return { cursor: row.cursor, decided: [] }
  const scheduled = { ...undecidedOf(row), delays: { jitterMs: 0, spreadMs: 0 } }
  return row.paused_at === null
    ? settleDue(row, scheduled)
    : settlePaused(row, row.paused_at, "paused", scheduled)
}
