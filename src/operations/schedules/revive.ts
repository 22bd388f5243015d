/** What a retired schedule becomes when the code declares it again. */
import type { Changed, StoredSchedule } from "../../engine/schedules/change.ts"
import { beginOf, nextOf, settlePaused } from "../../engine/schedules/settle-due.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import type { Retirement } from "./retire.ts"

/**
 * It goes on from now, with its old definition or with another one. Occurrences that came while it was retired are
 * skipped, not missed.
 */
export function revived(row: StoredSchedule, definition: ScheduleDefinition | undefined): Changed {
  const { was, pause } = JSON.parse(row.cause ?? "{}") as Partial<Retirement>
  const hadTimes = was === "active" || was === "paused"
  const settled = hadTimes ? settlePaused(row, row.cursor + 1, "retired") : undefined
  const now = Math.floor(row.now_ms)
  const reached = settled?.cursor ?? row.cursor
  const cursor = definition ? beginOf(row, reached) : Math.max(reached, now)
  const after = { ...row, ...definition, cause: null }
  const changed = { cursor, isEdit: definition !== undefined, decided: settled?.decided ?? [] }
  if (pause) {
    const cause = pause.cause === null ? null : JSON.stringify(pause.cause)
    const paused = { ...after, state: "paused", paused_at: now, resume_at: pause.resumeAt, cause }
    return { ...changed, row: paused, next: undefined }
  }
  // A schedule that was over does not begin again by coming back unchanged.
  const isOver = definition === undefined && (was === "completed" || was === "missed")
  const next = isOver ? undefined : nextOf(after, cursor)
  const ended = isOver ? was : "completed"
  return { ...changed, row: { ...after, state: next ? "active" : ended }, next }
}
