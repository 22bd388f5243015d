/** Deletes a schedule, for a call or because the code no longer declares it. Its runs and its ledger stay. */
import type { OperationResult } from "../../engine/effects.ts"
import {
  audit,
  cancelQueued,
  lockedSchedule,
  type OnlyIf,
  releaseHeld,
} from "../../engine/schedules/change.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { removeSchedule } from "../../store/schedules/remove.ts"
import type { WhichSchedule } from "./which.ts"

export interface DeleteScheduleRequest extends WhichSchedule {
  /** Also cancels the runs of the schedule that are not running. */
  readonly cancelsQueued: boolean
  /** Set by a declaration: the schedule that was read, and whether the declaring version is still the latest. */
  readonly declared?: { readonly id: string; readonly onlyIf: OnlyIf }
}

/**
 * The answer says whether there was such a schedule.
 *
 * Releases the runs that a pause with `hold` parked: no resume could release them after the delete.
 */
export async function deleteSchedule(
  runtime: Runtime,
  request: DeleteScheduleRequest,
): Promise<OperationResult<boolean>> {
  const { database } = runtime
  const { name, tenant, by, cancelsQueued, declared } = request
  const effects = await withPartitions(database, () =>
    database.transaction(async (tx) => {
      if (declared && !(await declared.onlyIf(tx))) return undefined
      const row = await lockedSchedule(tx, tenant, name)
      if (!row || (declared && row.id !== declared.id)) return undefined
      const displaced = cancelsQueued ? await cancelQueued(tx, row, by) : []
      const released = await releaseHeld(tx, row.id)
      await tx.run(removeSchedule, { id: row.id })
      await audit(tx, "schedule.delete", { row, by })
      return { ...released, displaced }
    }),
  )
  return { answer: effects !== undefined, effects: effects ?? {} }
}
