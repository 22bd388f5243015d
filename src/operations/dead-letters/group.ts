/** Reads one group of dead letters. */
import type { Runtime } from "../../runtime/runtime.ts"
import { readGroup } from "../../store/dead-letters/group.ts"
import { type DeadLetterGroup, groupOf } from "./error-group.ts"
import type { GroupName } from "./group-state.ts"

export interface GroupRequest extends GroupName {
  /** Where the count ends. */
  readonly most: number
}

/** `undefined` for a group that has no letters, and about which no operator decided. */
export async function group(
  { database }: Runtime,
  request: GroupRequest,
): Promise<DeadLetterGroup | undefined> {
  const [row] = await database.run(readGroup, request)
  return row && (row.count > 0 || row.state !== null) ? groupOf(row) : undefined
}
