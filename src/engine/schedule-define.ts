/** What a definition makes of a schedule: a new one, or another one of what is there. */
import type { ScheduleDefinition } from "../schedule/reconcile.ts"
import { readClock } from "../store/clock/read.ts"
import type { Transaction } from "../store/database.ts"
import { findSchedule } from "../store/schedules/find.ts"
import { insertSchedule } from "../store/schedules/insert.ts"
import {
  audit,
  type ByWhom,
  type Changed,
  nextOf,
  notFound,
  type Settled,
  type StoredSchedule,
  settleDue,
  settlePaused,
} from "./schedule-change.ts"

export interface NewSchedule {
  readonly id: string
  readonly definition: ScheduleDefinition
  /** The application whose code declares it; null where it is made by a call. */
  readonly declaredBy: string | null
  readonly by: ByWhom
  readonly action: string
}

/** Writes a schedule of which nothing happens before now. `undefined` where there is one of that name. */
export async function insertDefinition(
  tx: Transaction,
  { id, definition, declaredBy, by, action }: NewSchedule,
): Promise<StoredSchedule | undefined> {
  const { tenant, name } = definition
  const [clock] = await tx.run(readClock, {})
  const now = clock?.at ?? 0
  const next = nextOf({ id, ...definition }, now)
  const written = await tx.run(insertSchedule, {
    id,
    ...definition,
    cursor: now,
    nextOccurrence: next?.occurrence ?? null,
    nextAt: next?.due ?? null,
    declaredBy,
  })
  if (written.length === 0) return undefined
  const [row] = await tx.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  await audit(tx, action, row, by)
  return row
}

/** A schedule with another definition, which counts from now on. */
export function edited(row: StoredSchedule, definition: ScheduleDefinition): Changed {
  const settled = settleBefore(row)
  const cursor = Math.max(settled.cursor, Math.floor(row.now_ms))
  const after = { ...row, ...definition }
  const isPaused = row.state === "paused"
  const next = isPaused ? undefined : nextOf(after, cursor)
  const state = isPaused ? "paused" : next ? "active" : "completed"
  return {
    row: { ...after, state, cause: isPaused ? row.cause : null },
    cursor,
    next,
    isEdit: true,
    decided: settled.decided,
  }
}

/** What was due by the old definition is decided by it; one that was set aside cannot be asked. */
function settleBefore(row: StoredSchedule): Settled {
  if (row.state === "active") return settleDue(row)
  return row.paused_at === null ? { cursor: row.cursor, decided: [] } : settlePaused(row, row.paused_at)
}
