/** Discards a batch of dead letters in one statement, each of them that is still as it was chosen. */
import type { OperationResult } from "../../engine/effects.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { discardBatch as discardStatement } from "../../store/dead-letters/discard-batch.ts"
import type { BatchRequest } from "./replay-batch.ts"

/** Answers with the runs that it discarded. */
export async function discardBatch(
  { database }: Runtime,
  { letters, by }: BatchRequest,
): Promise<OperationResult<string[]>> {
  const rows = await database.run(discardStatement, {
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
