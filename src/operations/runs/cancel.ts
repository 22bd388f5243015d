/** Cancels a run in any state. A running run ends when its handler has ended. */
import { cancelText } from "../../engine/attempts/abort-reasons.ts"
import type { By } from "../../engine/by.ts"
import type { Effects, OperationResult } from "../../engine/effects.ts"
import type { FinalState } from "../../queue/run-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findEnds } from "../../store/attempts/by-run.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { cancelRun } from "../../store/runs/cancel.ts"
import { auditRun } from "./audit-run.ts"
import { unknownRun } from "./unknown-run.ts"

/** What `cancel` found and did. */
export interface Cancelled {
  /** Whether this call cancelled the run. */
  readonly changed: boolean
  /** `cancelling`: the handler gets the signal, and the run ends as cancelled when the handler has ended. */
  readonly state: "cancelling" | FinalState
}

export interface CancelRequest {
  readonly id: string
  readonly by: By
}

const CODE = "RUN_CANCELLED"

export async function cancel(
  runtime: Runtime,
  { id, by }: CancelRequest,
): Promise<OperationResult<Cancelled>> {
  const { database } = runtime
  const message = cancelText(by)
  const found = await withPartitions(database, () =>
    database.transaction(async (tx) => {
      const [row] = await tx.run(cancelRun, { id, code: CODE, message })
      if (row && !row.was_cancelling)
        await auditRun(tx, "run.cancel", { run: id, by, before: { state: row.state } })
      return row
    }),
  )
  if (!found) return { answer: { changed: false, state: await endOf(runtime, id) }, effects: {} }
  await runtime.crashPoint("cancel.written")
  const { state, job, pool, tenant, was_cancelling: wasCancelling, limit_keys: limitKeys } = found
  const isRunning = state === "running"
  const error = { code: CODE, message, stack: null }
  const effects: Effects = {
    admit: limitKeys === null ? [] : (JSON.parse(limitKeys) as string[]),
    // A repeated cancel tells the handler again: the first message may have been lost.
    ...(isRunning
      ? { cancelling: [{ run: id, by }] }
      : {
          ended: [{ id, state: "cancelled", result: null, error }],
          cancelled: [{ job, pool, tenant }],
        }),
    events: wasCancelling ? [] : [{ type: "run.cancelled", run: id, ...by }],
  }
  return { answer: { changed: !wasCancelling, state: isRunning ? "cancelling" : "cancelled" }, effects }
}

async function endOf({ database }: Runtime, id: string): Promise<FinalState> {
  const rows = await findEnds(database, [id])
  const state = rows.find(({ run_state: ended }) => ended !== null)?.run_state
  if (!state) throw unknownRun(id)
  return state as FinalState
}
