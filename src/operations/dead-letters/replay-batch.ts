/** Replays a batch of dead letters in one statement, each of them that is still as it was chosen. */
import type { By } from "../../engine/by.ts"
import type { OperationResult } from "../../engine/effects.ts"
import type { Runner } from "../../store/database.ts"
import { replayBatch as replayStatement } from "../../store/dead-letters/replay-batch.ts"
import { effectsOfReplay } from "./replayed.ts"

export interface LetterChoice {
  readonly run: string
  /** The generation that died. Null means the letter as it is now. */
  readonly generation: number | null
}

export interface BatchRequest {
  readonly letters: readonly LetterChoice[]
  readonly by: By
}

/** Answers with the runs that it replayed. */
export async function replayBatch(
  runner: Runner,
  { letters, by }: BatchRequest,
): Promise<OperationResult<string[]>> {
  const rows = await runner.run(replayStatement, {
    ...by,
    runs: letters.map(({ run }) => run),
    generations: letters.map(({ generation }) => generation),
    ...{ input: null, inputBefore: null, inputAfter: null },
  })
  return { answer: rows.map(({ run }) => run), effects: effectsOfReplay(rows, by) }
}
