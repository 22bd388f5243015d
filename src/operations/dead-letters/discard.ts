/** Discards a dead letter. History keeps the attempts of the run. */
import type { By } from "../../engine/by.ts"
import type { Done } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { discardRun } from "../../store/runs/discard.ts"
import { auditRun } from "../runs/audit-run.ts"
import { notDead } from "./not-dead.ts"

export interface DiscardRequest {
  readonly id: string
  readonly by: By
}

export async function discard({ database }: Runtime, { id, by }: DiscardRequest): Promise<Done<void>> {
  await database.transaction(async (tx) => {
    const [row] = await tx.run(discardRun, { id })
    if (!row) throw notDead(id)
    const before = { job: row.job, generation: row.generation }
    await auditRun(tx, "run.discard", { run: id, by, before })
  })
  return { answer: undefined, effects: {} }
}
