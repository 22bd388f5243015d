/** Discards a batch of dead letters in one statement, each of them that is still as it was chosen. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Runner } from "../../store/database.ts"
import { discardBatch as discardStatement } from "../../store/dead-letters/discard-batch.ts"
import type { BatchRequest } from "./replay-batch.ts"

/** Answers with the runs that it discarded. */
export async function discardBatch(
  runner: Runner,
  { letters, by }: BatchRequest,
): Promise<OperationResult<string[]>> {
  const rows = await runner.run(discardStatement, {
    ...by,
    runs: letters.map(({ run }) => run),
    generations: letters.map(({ generation }) => generation),
  })
  const runs = rows.map(({ run }) => run)
  return {
    answer: runs,
    effects: runs.length === 0 ? {} : { events: [{ type: "dead-letters.discarded", runs, ...by }] },
  }
}
