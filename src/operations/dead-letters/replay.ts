/** Puts a dead run back into the queue, as its next generation. */
import type { By } from "../../engine/by.ts"
import type { Done } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { replayRun } from "../../store/runs/replay.ts"
import { auditRun } from "../runs/audit-run.ts"
import { effectsOfReturn } from "../runs/returned.ts"
import { notDead } from "./not-dead.ts"

export interface ReplayRequest {
  readonly id: string
  readonly by: By
}

export async function replay({ database }: Runtime, { id, by }: ReplayRequest): Promise<Done<void>> {
  const replayed = await database.transaction(async (tx) => {
    const [row] = await tx.run(replayRun, { id })
    if (!row) throw notDead(id)
    const [before, after] = [{ generation: row.generation - 1 }, { generation: row.generation }]
    await auditRun(tx, "run.replay", { run: id, by, before, after })
    return row
  })
  return { answer: undefined, effects: effectsOfReturn(replayed) }
}
