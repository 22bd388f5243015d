/** Makes a run wait until an instant, or for a time from now. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { RunError } from "../../errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { delayRun } from "../../store/runs/delay.ts"
import { formatInstant } from "../../time/instant.ts"
import { auditRun } from "./audit-run.ts"
import { changeLocked } from "./locked.ts"

export interface DelayRequest {
  readonly id: string
  readonly by: By
  /** An instant, or a time from now. */
  readonly until: { readonly atMs: number } | { readonly byMs: number }
}

export async function delay(
  runtime: Runtime,
  { id, by, until }: DelayRequest,
): Promise<OperationResult<void>> {
  const keys = await changeLocked(runtime, id, async (tx, { state }) => {
    const [row] = await tx.run(delayRun, {
      id,
      until: "atMs" in until ? until.atMs : null,
      byMs: "byMs" in until ? until.byMs : null,
    })
    if (!row) throw new RunError("RUN_HELD", id, `Run ${id} is held by the pause of its schedule.`)
    const before = { state, due: formatInstant(row.due_before) }
    await auditRun(tx, "run.delay", { run: id, by, before, after: { due: formatInstant(row.due_at) } })
    return row.limit_keys === null ? [] : (JSON.parse(row.limit_keys) as string[])
  })
  return {
    answer: undefined,
    effects: {
      hasWaiting: true,
      admit: keys,
      events: [{ type: "run.changed", run: id, change: "delayed", ...by }],
    },
  }
}
