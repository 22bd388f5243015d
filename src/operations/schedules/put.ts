/** Makes a schedule match a definition: creates it, edits it, or leaves it alone. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import { findSchedule } from "../../store/schedules/find.ts"
import { changedMeanwhile } from "./changed-meanwhile.ts"
import { createUnlessThere } from "./create.ts"
import { edit, isSame } from "./edit.ts"
import { find } from "./find.ts"
import { assertNotDeclared } from "./not-declared.ts"

export interface PutRequest {
  readonly definition: ScheduleDefinition
  readonly by: By
  readonly appliesToQueued: boolean
  /** The version that the caller has read. Undefined for any version, or none. */
  readonly version: number | undefined
}

export interface PutOutcome {
  readonly outcome: "created" | "changed" | "unchanged"
  readonly row: StoredSchedule
}

export async function putSchedule(
  runtime: Runtime,
  request: PutRequest,
): Promise<OperationResult<PutOutcome>> {
  const { definition, by, appliesToQueued, version } = request
  const { name, tenant } = definition
  const [stored] = await runtime.database.run(findSchedule, { tenant, name })
  if (stored) assertNotDeclared("put", stored)
  if (version !== undefined && stored?.version !== version)
    throw changedMeanwhile({ name, ...stored }, version)
  // A program that puts its schedules at every start ends here, after one read.
  if (stored && isSame(stored, definition)) {
    return { answer: { outcome: "unchanged", row: stored }, effects: {} }
  }
  if (!stored) {
    const { answer: row, effects } = await createUnlessThere(runtime, { definition, by })
    if (row) return { answer: { outcome: "created", row }, effects }
  }
  const check = (row: StoredSchedule) => {
    assertNotDeclared("put", row)
    if (version !== undefined && row.version !== version) throw changedMeanwhile(row, version)
    if (!isSame(row, definition)) assertCan(row, "edit", "put")
  }
  const action = "schedule.put"
  const { answer: isChanged, effects } = await edit(runtime, {
    ...{ name, tenant, by, action, definition },
    ...{ appliesToQueued, check },
  })
  const row = await find(runtime.database, { tenant, name })
  return { answer: { outcome: isChanged ? "changed" : "unchanged", row }, effects }
}
