/** Makes a run due now, or gives it another priority. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
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
export async function expedite(
  { database }: Runtime,
  request: ExpediteRequest,
): Promise<OperationResult<boolean>> {
  const { id, by, priority } = request
  const moved = await database.transaction(async (tx) => {
    await tx.run(lockRun, { id })
    const [row] = await tx.run(expediteRun, { id, priority: priority ?? null })
    if (!row) return undefined
    const before = {
      state: row.state_before,
      priority: row.priority_before,
      due: formatInstant(row.due_before),
    }
    const after = { state: row.state, priority: row.priority }
    await auditRun(tx, "run.expedite", { run: id, by, before, after })
    return row
  })
  return { answer: moved !== undefined, effects: moved ? effectsOfReturn(moved) : {} }
}
