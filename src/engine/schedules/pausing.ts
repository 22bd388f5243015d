/** The state of a schedule after a pause begins or ends. */
import { readPolicy } from "../../job/schedule-policy.ts"
import type { Scheduled } from "../../schedule/decide.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { By } from "../by.ts"
import type { PlannedChange, StoredSchedule } from "./change.ts"
import { undecidedOf } from "./decisions.ts"
import { type DueDecisions, nextOf, settleDue, settlePaused } from "./settle-due.ts"

/** The schedule with a pause from `at` on. */
export function paused(row: StoredSchedule, at: InstantMs, until: InstantMs | null, by: By): PlannedChange {
  const pausedRow = { ...row, state: "paused", paused_at: at, resume_at: until, cause: JSON.stringify(by) }
  return { row: pausedRow, cursor: row.cursor, next: undefined }
}

/**
 * The schedule after a pause or after a fault. `misfire` makes up for the occurrences of the pause. Without it they are
 * skipped.
 */
export function resumed(row: StoredSchedule, misfire?: "latest" | "all"): PlannedChange {
  const now = Math.floor(row.now_ms)
  const settled = settleBeforeResume(row, misfire)
  // After a fault the cursor stays, so occurrences that were missed since follow the misfire policy.
  const cursor = settled ? cursorAfter(undecidedOf(row), settled.cursor, now) : row.cursor
  const next = nextOf(row, cursor)
  const state = next ? "active" : "completed"
  return {
    row: { ...row, state, paused_at: null, resume_at: null, cause: null },
    cursor,
    next,
    decided: settled?.decided ?? [],
  }
}

/** The schedule continues from now. A planned occurrence that waits for its jitter still fires. */
function cursorAfter({ recurrence, afterMs }: Scheduled, settled: InstantMs, now: InstantMs): InstantMs {
  const undecided = afterMs === null ? recurrence.next(settled) : undefined
  return undecided !== undefined && undecided <= now ? settled : Math.max(settled, now)
}

function settleBeforeResume(
  row: StoredSchedule,
  misfire: "latest" | "all" | undefined,
): DueDecisions | undefined {
  if (row.paused_at === null) return undefined
  if (misfire === undefined) return settlePaused(row, row.paused_at)
  const scheduled = undecidedOf(row)
  const { overlap } = scheduled.policy
  const policy = readPolicy({ misfire }, { overlap })
  return settleDue(row, { ...scheduled, policy })
}
