/** Does what writes history, and makes the partition of the day if it is missing. */
import { DatabaseError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { makePartitionsInTurn } from "./partitions.ts"

/** `work` must have changed nothing when it fails: it is done again. */
export async function withPartitions<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    // No more than is needed now: somebody waits for this. Upkeep makes the rest.
    await makePartitionsInTurn(database, 1)
    return work()
  }
}

/** A violated check has the same code, but names its constraint. */
function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  const { constraint } = (error.cause ?? {}) as { constraint?: string }
  return constraint === undefined
}
