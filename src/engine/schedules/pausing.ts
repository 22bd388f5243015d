/** What a pause and its end make of a schedule. */
import { readPolicy } from "../../job/schedule-policy.ts"
import type { Scheduled } from "../../schedule/decide.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { By } from "../by.ts"
import type { Changed, StoredSchedule } from "./change.ts"
import { undecidedOf } from "./decided.ts"
import { nextOf, type Settled, settleDue, settlePaused } from "./settle-due.ts"

/** A schedule that makes no runs from `at` on. */
export function paused(row: StoredSchedule, at: InstantMs, until: InstantMs | null, by: By): Changed {
  const resting = { ...row, state: "paused", paused_at: at, resume_at: until, cause: JSON.stringify(by) }
  return { row: resting, cursor: row.cursor, next: undefined }
}

/**
 * A schedule that goes on after a pause, or after a fault of its own. `misfire` makes up for the occurrences of the pause;
 * without it they are skipped.
 */
export function resumed(row: StoredSchedule, misfire?: "latest" | "all"): Changed {
  const now = Math.floor(row.now_ms)
  const settled = settleBeforeResume(row, misfire)
  // After a fault it goes on where it was: what it missed meanwhile obeys its policy.
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

/** It goes on from now. An occurrence that is planned already and waits for its jitter still comes. */
function cursorAfter({ recurrence, afterMs }: Scheduled, settled: InstantMs, now: InstantMs): InstantMs {
  const undecided = afterMs === null ? recurrence.next(settled) : undefined
  return undecided !== undefined && undecided <= now ? settled : Math.max(settled, now)
}

function settleBeforeResume(row: StoredSchedule, misfire: "latest" | "all" | undefined): Settled | undefined {
  if (row.paused_at === null) return undefined
  if (misfire === undefined) return settlePaused(row, row.paused_at)
  const scheduled = undecidedOf(row)
  const { overlap } = scheduled.policy
  const policy = readPolicy({ misfire }, { overlap })
  return settleDue(row, { ...scheduled, policy })
}
