/** Moves a run that is not running to another pool. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Engine } from "../../engine/engine.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { moveRun } from "../../store/runs/move.ts"
import { auditRun } from "./audit-run.ts"
import { changeLocked } from "./locked.ts"
import { effectsOfReturn } from "./returned.ts"

export interface MoveParts {
  readonly runtime: Runtime
  readonly engine: Pick<Engine, "poolCheck">
}

export interface MoveRequest {
  readonly id: string
  readonly by: By
  readonly pool: string
}

export async function move(
  { runtime, engine }: MoveParts,
  { id, by, pool }: MoveRequest,
): Promise<OperationResult<void>> {
  const moved = await changeLocked(runtime, id, async (tx, run) => {
    const [row] = await tx.run(moveRun, { id, pool })
    if (!row) return undefined
    await auditRun(tx, "run.move", { run: id, by, before: { pool: run.pool }, after: { pool } })
    return { row, job: run.job }
  })
  if (!moved) return { answer: undefined, effects: {} }
  engine.poolCheck.entered(pool, moved.job)
  return {
    answer: undefined,
    effects: {
      ...(moved.row.state === "ready" && effectsOfReturn(moved.row)),
      mayUnpark: moved.row.state === "parked",
      events: [{ type: "run.changed", run: id, change: "moved", ...by }],
    },
  }
}
