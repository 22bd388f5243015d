/** Changes the priority, the tags or the input of a run that is not running. The audit says what differs. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { decodePayload } from "../../job/payload.ts"
import { differenceOf } from "../../job/payload-difference.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { editRun } from "../../store/runs/edit.ts"
import { auditRun } from "./audit-run.ts"
import { changeLocked, type LockedRun } from "./locked.ts"
import { effectsOfReturn } from "./returned.ts"

/** What becomes different. What is absent stays as it is. */
export interface RunEdits {
  readonly priority?: number
  readonly tags?: readonly string[]
  /** As JSON. */
  readonly input?: string
}

export interface EditRequest {
  readonly id: string
  readonly by: By
  readonly edits: RunEdits
}

export async function edit(runtime: Runtime, { id, by, edits }: EditRequest): Promise<OperationResult<void>> {
  const row = await changeLocked(runtime, id, async (tx, run) => {
    const [edited] = await tx.run(editRun, {
      id,
      priority: edits.priority ?? null,
      tags: edits.tags ? JSON.stringify(edits.tags) : null,
      input: edits.input ?? null,
    })
    await auditRun(tx, "run.edit", { run: id, by, ...changesOf(run, edits) })
    return edited
  })
  return {
    answer: undefined,
    effects: {
      ...(row?.is_moved && row.state === "ready" && effectsOfReturn(row)),
      events: [{ type: "run.changed", run: id, change: "edited", ...by }],
    },
  }
}

function changesOf(run: LockedRun, { priority, tags, input }: RunEdits) {
  const inputs =
    input === undefined ? undefined : differenceOf(decodePayload(run.input), decodePayload(input))
  return {
    before: {
      ...(priority !== undefined && { priority: run.priority }),
      ...(tags && { tags: run.tags === null ? [] : (JSON.parse(run.tags) as unknown) }),
      ...(inputs && { input: inputs.before }),
    },
    after: {
      ...(priority !== undefined && { priority }),
      ...(tags && { tags }),
      ...(inputs && { input: inputs.after }),
    },
  }
}
