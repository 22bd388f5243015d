/** Schedules that the code does not declare any more, and what becomes of one that it declares again. */
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import {
  type ByWhom,
  beginOf,
  type Changed,
  nextOf,
  type Settled,
  type StoredSchedule,
  settlePaused,
} from "./change.ts"

/** Why a schedule is retired, and what it was before: a pause is somebody's, and is not lost on the way. */
interface Retirement extends ByWhom {
  readonly was: string
  readonly pause?: { readonly resumeAt: number | null; readonly cause: unknown }
}

/** It makes no runs, and keeps its row, its history and its cursor. */
export function retired(row: StoredSchedule, by: ByWhom): Changed {
  const { state, resume_at: resumeAt, cause: before } = row
  const retirement: Retirement = {
    ...by,
    was: state,
    ...(state === "paused" && { pause: { resumeAt, cause: before === null ? null : JSON.parse(before) } }),
  }
  const cause = JSON.stringify(retirement)
  const gone = { ...row, state: "retired", paused_at: null, resume_at: null, cause }
  return { row: gone, cursor: row.cursor, next: undefined }
}

/** It goes on from now, as it is or by another `definition`. What came while it was retired is skipped, not missed. */
export function revived(row: StoredSchedule, definition: ScheduleDefinition | undefined): Changed {
  const { was, pause } = JSON.parse(row.cause ?? "{}") as Partial<Retirement>
  const settled = was === "active" || was === "paused" ? settleRetired(row) : undefined
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
  // What was over is not begun again by coming back as it was.
  const isOver = definition === undefined && (was === "completed" || was === "missed")
  const next = isOver ? undefined : nextOf(after, cursor)
  const ended = isOver ? was : "completed"
  return { ...changed, row: { ...after, state: next ? "active" : ended }, next }
}

function settleRetired(row: StoredSchedule): Settled {
  return settlePaused(row, row.cursor + 1, "retired")
}
