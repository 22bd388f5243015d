/** Changes parts of a schedule, if it still has the version that the caller has read. */
import type { OperationResult } from "../../engine/effects.ts"
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import { changedMeanwhile } from "./changed-meanwhile.ts"
import { edit, isSame } from "./edit.ts"
import { find } from "./find.ts"
import { assertNotDeclared } from "./not-declared.ts"
import type { WhichSchedule } from "./which.ts"

export interface PatchRequest extends WhichSchedule {
  readonly version: number
  readonly appliesToQueued: boolean
  /** Applies the changes to the stored definition. Throws the faults of the changes. */
  readonly patched: (row: StoredSchedule) => Promise<ScheduleDefinition>
}

/** If two callers change the same version, the second one is refused. */
export async function patchSchedule(
  runtime: Runtime,
  request: PatchRequest,
): Promise<OperationResult<StoredSchedule>> {
  const { name, tenant, by, version, appliesToQueued, patched } = request
  const stored = await find(runtime.database, { tenant, name })
  assertNotDeclared("patch", stored)
  if (stored.version !== version) throw changedMeanwhile(stored, version)
  const definition = await patched(stored)
  const check = (row: StoredSchedule) => {
    if (row.id !== stored.id || row.version !== version) throw changedMeanwhile(row, version)
    if (!isSame(row, definition)) assertCan(row, "edit", "patch")
  }
  const action = "schedule.patch"
  const { effects } = await edit(runtime, {
    ...{ name, tenant, by, action, definition },
    ...{ appliesToQueued, check },
  })
  return { answer: await find(runtime.database, { tenant, name }), effects }
}
