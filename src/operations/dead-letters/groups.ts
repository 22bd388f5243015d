/** Lists groups of dead letters in the order of job and fingerprint, a page at a time. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listGroups } from "../../store/dead-letters/groups.ts"
import { type DeadLetterGroup, groupOf } from "./error-group.ts"
import type { GroupName } from "./group-state.ts"

export interface GroupsRequest {
  readonly job: string | undefined
  /** Where the counts end. */
  readonly most: number
  readonly limit: number
  readonly after: GroupName | undefined
}

export interface GroupsAnswer {
  readonly items: readonly DeadLetterGroup[]
  /** Where the next page begins; `undefined` if this one is the last. */
  readonly next: GroupName | undefined
}

export async function groups({ database }: Runtime, request: GroupsRequest): Promise<GroupsAnswer> {
  const { job, most, limit, after } = request
  const rows = await database.run(listGroups, {
    // No fingerprint is empty, so the first group of a job is after this place.
    afterJob: after?.job ?? job ?? "",
    afterFingerprint: after?.fingerprint ?? "",
    job: job ?? null,
    most,
    limit: limit + 1,
  })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(groupOf),
    next: last && rows.length > limit ? { job: last.job, fingerprint: last.fingerprint } : undefined,
  }
}
