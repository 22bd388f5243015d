/** Makes a run due now, or gives it another priority. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { expediteRun } from "../../store/runs/expedite.ts"
import { lockRun } from "../../store/runs/lock.ts"
import { formatInstant } from "../../time/instant.ts"
import { auditRun } from "./audit-run.ts"
import { effectsOfReturn } from "./returned.ts"

export interface ExpediteRequest {
  readonly id: string
  readonly by: By
  /** `undefined` keeps the priority. */
  readonly priority: number | undefined
}

/** The answer says whether the run was changed. Parked, running and ended runs cannot be expedited. */
export function expedite({ database }: Runtime, request: ExpediteRequest): Promise<OperationResult<boolean>> {
  return database.transaction((tx) => expediteIn(tx, request))
}

/** The same in a transaction of the caller. */
export async function expediteIn(
  tx: Transaction,
  request: ExpediteRequest,
): Promise<OperationResult<boolean>> {
  const { id, by, priority } = request
  await tx.run(lockRun, { id })
  const [row] = await tx.run(expediteRun, { id, priority: priority ?? null })
  if (!row) return { answer: false, effects: {} }
  const before = {
    state: row.state_before,
    priority: row.priority_before,
    due: formatInstant(row.due_before),
  }
  const after = { state: row.state, priority: row.priority }
  await auditRun(tx, "run.expedite", { run: id, by, before, after })
  return { answer: true, effects: effectsOfReturn(row) }
}
