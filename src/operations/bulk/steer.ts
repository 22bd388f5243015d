/** Pauses, resumes or aborts a bulk operation, from any process. A batch that is under way ends before. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { CarillonError } from "../../errors.ts"
import type { CarillonEvent } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordAudit } from "../../store/audit/record.ts"
import { findBulk } from "../../store/bulk/find.ts"
import { steerBulk } from "../../store/bulk/steer.ts"
import { type BulkOperation, bulkOf } from "./record.ts"

/** What each verb makes of an operation, and what is told of it. */
const VERBS = {
  pause: { state: "paused", type: "bulk.paused" },
  resume: { state: "running", type: "bulk.resumed" },
  abort: { state: "aborted", type: "bulk.aborted" },
} as const satisfies Record<string, { readonly state: string; readonly type: CarillonEvent["type"] }>

export type BulkVerb = keyof typeof VERBS

export interface SteerRequest {
  readonly id: string
  readonly verb: BulkVerb
  readonly by: By
}

/** Answers with the operation as it is then. One that is in the state already stays as it is. */
export async function steer(
  { database }: Runtime,
  request: SteerRequest,
): Promise<OperationResult<BulkOperation>> {
  const { id, verb, by } = request
  const { state, type } = VERBS[verb]
  const row = await database.transaction(async (tx) => {
    const [steered] = await tx.run(steerBulk, { id, state })
    if (steered && steered.state_before !== state) {
      await tx.run(recordAudit, {
        ...by,
        ...{ action: `bulk.${verb}`, subject: `bulk:${id}` },
        before: JSON.stringify({ state: steered.state_before }),
        after: JSON.stringify({ state }),
      })
    }
    return steered
  })
  if (!row) throw await refusal(database, id)
  if (row.state_before === state) return { answer: bulkOf(row), effects: {} }
  return {
    answer: bulkOf(row),
    effects: { hasBulk: verb === "resume", events: [{ type, bulk: id, action: row.action, ...by }] },
  }
}

async function refusal(database: Runtime["database"], id: string): Promise<CarillonError> {
  const [row] = await database.run(findBulk, { id })
  if (!row) return new CarillonError("BULK_NOT_FOUND", `There is no bulk operation ${id}.`)
  return new CarillonError("BULK_ENDED", `Bulk operation ${id} is ${row.state}, and changes no more runs.`)
}
