/**
 * Replays a dead run with another input.
 *
 * The attempts before keep the input that they had, in history. The audit says what differs.
 */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { decodePayload } from "../../job/payload.ts"
import { differenceOf } from "../../job/payload-difference.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { lockLetter } from "../../store/dead-letters/lock.ts"
import { replayBatch } from "../../store/dead-letters/replay-batch.ts"
import { notDead } from "./not-dead.ts"
import { effectsOfReplay } from "./replayed.ts"

export interface EditRequest {
  readonly id: string
  /** As JSON. */
  readonly input: string
  readonly by: By
}

export async function editAndReplay(
  { database }: Runtime,
  request: EditRequest,
): Promise<OperationResult<void>> {
  const { id, input, by } = request
  const rows = await database.transaction(async (tx) => {
    const [letter] = await tx.run(lockLetter, { run: id })
    if (!letter) throw notDead(id)
    const { before, after } = differenceOf(decodePayload(letter.input), decodePayload(input))
    return tx.run(replayBatch, {
      ...by,
      runs: [id],
      generations: [letter.generation],
      input,
      inputBefore: JSON.stringify(before),
      inputAfter: JSON.stringify(after),
    })
  })
  return { answer: undefined, effects: effectsOfReplay(rows, by) }
}
