/** Deletes a schedule, for a call or because the code declares it no more. Its runs and its ledger stay. */
import type { Done } from "../../engine/effects.ts"
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
  /** Cancels also its runs that are not running. */
  readonly cancelsQueued: boolean
  /** Set by a declaration: the schedule that was read, and whether the code that reads it still counts. */
  readonly declared?: { readonly id: string; readonly onlyIf: OnlyIf }
}

/**
 * The answer is whether there was one.
 *
 * Runs that a pause with `hold` parked are released: once the schedule is gone, no resume could release them.
 */
export async function deleteSchedule(
  runtime: Runtime,
  request: DeleteScheduleRequest,
): Promise<Done<boolean>> {
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
