/** Starts a bulk operation. From its commit on any process carries it on, also if this one dies. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordAudit } from "../../store/audit/record.ts"
import { insertBulk } from "../../store/bulk/insert.ts"
import type { BulkAction, BulkActionOptions } from "./actions.ts"
import { type BulkOperation, bulkOf } from "./record.ts"

export interface StartRequest {
  readonly action: BulkAction
  /** As text. */
  readonly filter: string
  readonly options: BulkActionOptions
  /** As in "50/s"; `undefined` for as fast as it goes. */
  readonly pace: string | undefined
  readonly by: By
}

export async function start(
  runtime: Runtime,
  request: StartRequest,
): Promise<OperationResult<BulkOperation>> {
  const { action, filter, options, pace, by } = request
  const id = runtime.newId()
  const [row] = await runtime.database.transaction(async (tx) => {
    const after = { action, filter, ...options, ...(pace !== undefined && { pace }) }
    await tx.run(recordAudit, {
      ...by,
      ...{ action: "bulk.start", subject: `bulk:${id}`, before: null, after: JSON.stringify(after) },
    })
    return tx.run(insertBulk, {
      ...{ id, action, filter, options: JSON.stringify(options), pace: pace ?? null },
      ...by,
    })
  })
  if (!row) throw new Error("an insert returns its row")
  return {
    answer: bulkOf(row),
    effects: { hasBulk: true, events: [{ type: "bulk.started", bulk: id, action, filter, ...by }] },
  }
}
