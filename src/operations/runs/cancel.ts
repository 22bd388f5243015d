/** Cancels a run in any state. A running run ends when its handler has ended. */
import { cancelText } from "../../engine/attempts/abort-reasons.ts"
import type { By } from "../../engine/by.ts"
import type { Effects, OperationResult } from "../../engine/effects.ts"
import type { FinalState } from "../../queue/run-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findEnds } from "../../store/attempts/by-run.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import type { Runner } from "../../store/database.ts"
import { cancelRun } from "../../store/runs/cancel.ts"
import type { Statement } from "../../store/statement.ts"
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

export async function cancel(runtime: Runtime, request: CancelRequest): Promise<OperationResult<Cancelled>> {
  const { database } = runtime
  const { id } = request
  const found = await withPartitions(database, () => database.transaction((tx) => cancelRow(tx, request)))
  if (!found) return { answer: { changed: false, state: await endOf(runtime, id) }, effects: {} }
  await runtime.crashPoint("cancel.written")
  const state = found.state === "running" ? "cancelling" : "cancelled"
  return { answer: { changed: !found.was_cancelling, state }, effects: effectsOf(found, request) }
}

/** The same in a transaction of the caller. The answer says whether the run was changed. */
export async function cancelIn(tx: Runner, request: CancelRequest): Promise<OperationResult<boolean>> {
  const found = await cancelRow(tx, request)
  return found
    ? { answer: !found.was_cancelling, effects: effectsOf(found, request) }
    : { answer: false, effects: {} }
}

type Found = typeof cancelRun extends Statement<infer _, infer Row> ? Row : never

async function cancelRow(tx: Runner, { id, by }: CancelRequest): Promise<Found | undefined> {
  const [row] = await tx.run(cancelRun, { id, code: CODE, message: cancelText(by) })
  if (row && !row.was_cancelling) {
    await auditRun(tx, "run.cancel", { run: id, by, before: { state: row.state } })
  }
  return row
}

function effectsOf(found: Found, { id, by }: CancelRequest): Effects {
  const { state, job, pool, tenant, was_cancelling: wasCancelling, limit_keys: limitKeys } = found
  const error = { code: CODE, message: cancelText(by), stack: null }
  return {
    admit: limitKeys === null ? [] : (JSON.parse(limitKeys) as string[]),
    // A repeated cancel tells the handler again: the first message may have been lost.
    ...(state === "running"
      ? { cancelling: [{ run: id, by }] }
      : {
          ended: [{ id, state: "cancelled", result: null, error }],
          cancelled: [{ job, pool, tenant }],
        }),
    events: wasCancelling ? [] : [{ type: "run.cancelled", run: id, ...by }],
  }
}

async function endOf({ database }: Runtime, id: string): Promise<FinalState> {
  const rows = await findEnds(database, [id])
  const state = rows.find(({ run_state: ended }) => ended !== null)?.run_state
  if (!state) throw unknownRun(id)
  return state as FinalState
}
