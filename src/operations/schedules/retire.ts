/** Retires a schedule that the code no longer declares. It makes no runs, and keeps its row, ledger and cursor. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import {
  change,
  type OnlyIf,
  type PlannedChange,
  type StoredSchedule,
} from "../../engine/schedules/change.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { WhichSchedule } from "./which.ts"

export interface RetireRequest extends WhichSchedule {
  /** The schedule that was read. By now another schedule may have its name. */
  readonly id: string
  /** Is the version that no longer declares it still the latest? */
  readonly onlyIf: OnlyIf
}

/** Why a schedule is retired, and its state before. A later declaration restores the pause. */
export interface Retirement extends By {
  readonly was: string
  readonly pause?: { readonly resumeAt: number | null; readonly cause: unknown }
}

/** The answer says whether the call retired the schedule. */
export function retireSchedule(runtime: Runtime, request: RetireRequest): Promise<OperationResult<boolean>> {
  const { id, name, tenant, by, onlyIf } = request
  return change(runtime, { name, tenant, by, action: "schedule.retire", onlyIf }, (row) =>
    row.id === id && isRetirable(row) ? retired(row, by) : undefined,
  )
}

/** `retired` and `cancelled` are final here: a declaration sets the first, an operator the second. */
export function isRetirable({ state }: Pick<StoredSchedule, "state">): boolean {
  return state !== "retired" && state !== "cancelled"
}

function retired(row: StoredSchedule, by: By): PlannedChange {
  const { state, resume_at: resumeAt, cause: before } = row
  const retirement: Retirement = {
    ...by,
    was: state,
    ...(state === "paused" && { pause: { resumeAt, cause: before === null ? null : JSON.parse(before) } }),
  }
  const cause = JSON.stringify(retirement)
  const retiredRow = { ...row, state: "retired", paused_at: null, resume_at: null, cause }
  return { row: retiredRow, cursor: row.cursor, next: undefined }
}
