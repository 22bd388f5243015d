/** A group of dead letters as every door shows it. */
import { type ErrorGroupState, type StoredGroupState, stateOfGroup } from "../../queue/error-group.ts"
import type { readGroup } from "../../store/dead-letters/group.ts"
import type { Statement } from "../../store/statement.ts"
import { toDate } from "../../time/instant.ts"

/** Dead letters of one job whose errors are likely the same. What does not apply is absent. */
export interface DeadLetterGroup {
  /** The name of the job. */
  readonly job: string
  /** What the errors have in common. */
  readonly fingerprint: string
  /**
   * `open`, `ignored` and `resolved` are decisions of operators. A resolved group is `regressed` if a run died
   * afterwards, in the version that resolves it or in a later one.
   */
  readonly state: ErrorGroupState
  /** The version that resolves it. */
  readonly resolvedIn?: string
  /** When an operator decided. */
  readonly decidedAt?: Date
  /** How many letters it has. */
  readonly count: number
  /** Whether the count ended early, and there are more. */
  readonly capped: boolean
  /** When the oldest of its letters died. */
  readonly firstSeen?: Date
  /** When the newest of its letters died. */
  readonly lastSeen?: Date
  /** Up to five tenants of its newest 1,000 letters. */
  readonly tenants: readonly string[]
  /** The newest letter. */
  readonly sample?: { readonly id: string; readonly code?: string; readonly message: string }
}

export type GroupRow = typeof readGroup extends Statement<infer _, infer Row> ? Row : never

export function groupOf(row: GroupRow): DeadLetterGroup {
  const { job, fingerprint, count, capped, first_at: firstAt, last_at: lastAt, changed_at: changedAt } = row
  return {
    ...{ job, fingerprint },
    state: stateOfGroup(storedOf(row), row.versions_since === null ? [] : JSON.parse(row.versions_since)),
    ...(row.version !== null && { resolvedIn: row.version }),
    ...(changedAt !== null && { decidedAt: toDate(changedAt) }),
    ...{ count, capped },
    ...(firstAt !== null && { firstSeen: toDate(firstAt) }),
    ...(lastAt !== null && { lastSeen: toDate(lastAt) }),
    tenants: row.tenants === null ? [] : (JSON.parse(row.tenants) as string[]).toSorted(),
    ...(row.sample !== null && { sample: sampleOf(row, row.sample) }),
  }
}

function storedOf({ state, version }: GroupRow): StoredGroupState | undefined {
  // The table's constraint allows these words and no others.
  return state === null ? undefined : { state: state as StoredGroupState["state"], version }
}

function sampleOf({ error_code: code, error_message: message }: GroupRow, id: string) {
  return { id, ...(code !== null && { code }), message: message ?? "" }
}
