/** What a definition makes of a schedule: a new one, or another one of what is there. */
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import type { ScheduleSettings } from "../../schedule/stored.ts"
import { readClock } from "../../store/clock/read.ts"
import type { Transaction } from "../../store/database.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { insertSchedule } from "../../store/schedules/insert.ts"
import { MINUTE_MS } from "../../time/civil.ts"
import {
  audit,
  type ByWhom,
  beginOf,
  type Changed,
  nextOf,
  notFound,
  type Settled,
  type StoredSchedule,
  settleDue,
  settlePaused,
} from "./change.ts"
import { undecidedOf } from "./decided.ts"
import { type MadeNow, makeRunNow } from "./run-by-hand.ts"
import { editionFor } from "./zone-data.ts"

export interface NewSchedule {
  readonly id: string
  readonly definition: ScheduleDefinition
  /** The application whose code declares it; null where it is made by a call. */
  readonly declaredBy: string | null
  readonly by: ByWhom
  readonly action: string
}

export interface MadeSchedule {
  readonly row: StoredSchedule
  /** The run that it begins with. */
  readonly first: MadeNow | undefined
}

/** Writes a schedule of which nothing happens before now. `undefined` where there is one of that name. */
export async function insertDefinition(
  tx: Transaction,
  runtime: Runtime,
  { id, definition, declaredBy, by, action }: NewSchedule,
): Promise<MadeSchedule | undefined> {
  const { tenant, name } = definition
  const [clock] = await tx.run(readClock, {})
  const { includeCurrentMinute, runOnCreate } = JSON.parse(definition.settings) as ScheduleSettings
  const now = clock?.at ?? 0
  const cursor = includeCurrentMinute ? Math.floor(now / MINUTE_MS) * MINUTE_MS - 1 : now
  const next = nextOf({ id, job_settings: null, ...definition }, cursor)
  const written = await tx.run(insertSchedule, {
    id,
    ...definition,
    // One whose time is over does nothing, and shows it.
    state: next ? "active" : "at" in JSON.parse(definition.spec) ? "missed" : "completed",
    at: now,
    cursor,
    nextOccurrence: next?.occurrence ?? null,
    nextAt: next?.due ?? null,
    declaredBy,
    tzdb: editionFor({ id, job_settings: null, ...definition }, runtime),
  })
  if (written.length === 0) return undefined
  const [row] = await tx.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  await audit(tx, action, row, by)
  // It has the id of its schedule: there is only one.
  return { row, first: runOnCreate ? await makeRunNow(tx, row, id) : undefined }
}

/** A schedule with another definition. Other times count from now on; what else is new counts for all that is undecided. */
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
  // A pause begins no later than where it goes on from: all that comes until its end is skipped.
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
 * What was planned by the old definition is decided by it; one that was set aside cannot be asked. An occurrence whose
 * jitter is not over is due now: there is nobody left to wait for it.
 */
function settleBefore(row: StoredSchedule): Settled {
  if (row.state !== "active" && row.paused_at === null) return { cursor: row.cursor, decided: [] }
  const scheduled = { ...undecidedOf(row), delays: { jitterMs: 0, spreadMs: 0 } }
  return row.paused_at === null
    ? settleDue(row, scheduled)
    : settlePaused(row, row.paused_at, "paused", scheduled)
}
