/** New runs of schedules that take the place of others: which those are, and who has to hear of it. */
import type { Scheduled } from "../../schedule/decide.ts"
import type { Transaction } from "../../store/database.ts"
import { displaceRuns } from "../../store/schedules/displace.ts"
import type { Statement } from "../../store/statement.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { overlapKeyOf, type ScheduleRow } from "./decided.ts"

/** A run that has just been made. */
export interface NewRunOf {
  readonly row: Pick<ScheduleRow, "id" | "tenant">
  readonly scheduled: Scheduled
  readonly run: string
  /** Nothing for one that somebody asked for. */
  readonly occurrence: InstantMs | undefined
}

type DisplacedRow = typeof displaceRuns extends Statement<infer _, infer R> ? R : never

export interface Displaced {
  readonly run: string
  /** Its handler is being told; it ends when that has ended. */
  readonly isRunning: boolean
  readonly message: string
  /** The keys whose lines may move on. */
  readonly keys: readonly string[]
}

export const DISPLACED_CODE = "RUN_CANCELLED"

/** In the transaction that has made the runs. Asks nothing where nothing is displaced. */
export async function displace(tx: Transaction, made: readonly NewRunOf[]): Promise<readonly Displaced[]> {
  const newest = made.flatMap((each) => {
    const key = overlapKeyOf(each.scheduled, each.row.tenant)
    return key === null || !isDisplacing(each.scheduled) ? [] : [{ ...each, key }]
  })
  if (newest.length === 0) return []
  const overlaps = newest.map(({ scheduled }) => scheduled.policy.overlap)
  const rows = await tx.run(displaceRuns, {
    schedules: newest.map(({ row }) => row.id),
    keys: newest.map(({ key }) => key),
    runs: newest.map(({ run }) => run),
    intos: newest.map(({ occurrence }) => occurrence ?? null),
    takesUnstarted: overlaps.map((overlap) => overlap === "collapse" || overlap === "replace"),
    takesRetrying: newest.map(
      ({ scheduled }) => scheduled.replacesRetry || scheduled.policy.overlap === "replace",
    ),
    takesRunning: overlaps.map((overlap) => overlap === "replace"),
    outcomes: overlaps.map((overlap) => (overlap === "collapse" ? "coalesced" : "superseded")),
    gracesMs: newest.map(({ scheduled }) => scheduled.replaceGraceMs),
    messages: newest.map(({ occurrence }) => messageFor(occurrence)),
    code: DISPLACED_CODE,
  })
  return rows.map(displacedOf)
}

function isDisplacing({ policy, replacesRetry }: Scheduled): boolean {
  return policy.overlap === "collapse" || policy.overlap === "replace" || replacesRetry
}

function messageFor(occurrence: InstantMs | undefined): string {
  return occurrence === undefined
    ? "A run of its schedule that was asked for takes its place"
    : `The occurrence of ${formatInstant(occurrence)} takes its place`
}

function displacedOf({ id, is_running, message, limit_keys }: DisplacedRow): Displaced {
  const keys = limit_keys === null ? [] : (JSON.parse(limit_keys) as string[])
  return { run: id, isRunning: is_running, message, keys }
}
