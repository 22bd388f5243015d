/** The state of a retired schedule after the code declares it again. */
import type { PlannedChange, StoredSchedule } from "../../engine/schedules/change.ts"
import { beginOf, nextOf, settlePaused } from "../../engine/schedules/settle-due.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import type { Retirement } from "./retire.ts"

/**
 * The schedule continues from now, with its old definition or a new one. Occurrences from the time when it was retired
 * count as skipped, not as missed.
 */
export function revived(row: StoredSchedule, definition: ScheduleDefinition | undefined): PlannedChange {
  const { was, pause } = JSON.parse(row.cause ?? "{}") as Partial<Retirement>
  const hadTimes = was === "active" || was === "paused"
  const settled = hadTimes ? settlePaused(row, row.cursor + 1, "retired") : undefined
  const now = Math.floor(row.now_ms)
  const settledCursor = settled?.cursor ?? row.cursor
  const cursor = definition ? beginOf(row, settledCursor) : Math.max(settledCursor, now)
  const after = { ...row, ...definition, cause: null }
  const changed = { cursor, isEdit: definition !== undefined, decided: settled?.decided ?? [] }
  if (pause) {
    const cause = pause.cause === null ? null : JSON.stringify(pause.cause)
    const paused = { ...after, state: "paused", paused_at: now, resume_at: pause.resumeAt, cause }
    return { ...changed, row: paused, next: undefined }
  }
  // A schedule that had ended does not start again if its definition is unchanged.
  const isOver = definition === undefined && (was === "completed" || was === "missed")
  const next = isOver ? undefined : nextOf(after, cursor)
  const endState = isOver ? was : "completed"
  return { ...changed, row: { ...after, state: next ? "active" : endState }, next }
}
