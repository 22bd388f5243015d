/** Runs work that writes history, and makes the partition of the day if it is missing. */
import { DatabaseError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { makePartitionsInTurn } from "./partitions.ts"

/** If `work` fails for want of a partition, it must have changed nothing: it runs a second time. */
export async function withPartitions<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    // Only what this write needs, because a caller waits. Upkeep makes the rest.
    await makePartitionsInTurn(database, 1)
    return work()
  }
}

/** A violated check constraint has the same code, but the error names the constraint. */
function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  const { constraint } = (error.cause ?? {}) as { constraint?: string }
  return constraint === undefined
}
