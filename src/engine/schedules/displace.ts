/** New runs of schedules that replace earlier runs: which runs end, and who must learn of it. */
import { behaviourOf } from "../../job/overlap.ts"
import type { Scheduled } from "../../schedule/decide.ts"
import type { Transaction } from "../../store/database.ts"
import { displaceRuns } from "../../store/schedules/displace.ts"
import type { Statement } from "../../store/statement.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { overlapKeyOf, type ScheduleRow } from "./decisions.ts"

/** A new run of a schedule. */
export interface NewRunOf {
  readonly row: Pick<ScheduleRow, "id" | "tenant">
  readonly scheduled: Scheduled
  readonly run: string
  /** Undefined for a run made by hand. */
  readonly occurrence: InstantMs | undefined
}

type DisplacedRow = typeof displaceRuns extends Statement<infer _, infer R> ? R : never

export interface Displaced {
  readonly run: string
  /** Its handler gets the signal, and the run ends when the handler has ended. */
  readonly isRunning: boolean
  readonly message: string
  /** The limit keys that may have room now. */
  readonly keys: readonly string[]
}

export const DISPLACED_CODE = "RUN_CANCELLED"

/** Ends the runs that new runs replace, in the transaction that makes the new ones. Runs no statement if none do. */
export async function displace(tx: Transaction, made: readonly NewRunOf[]): Promise<readonly Displaced[]> {
  const newest = made.flatMap(({ row, scheduled, run, occurrence }) => {
    const key = overlapKeyOf(scheduled, row.tenant)
    const displaced = displacementOf(scheduled)
    if (key === null || displaced === null) return []
    const intoOccurrence = occurrence ?? null
    const message = messageFor(occurrence)
    return [
      {
        schedule: row.id,
        key,
        run,
        intoOccurrence,
        ...displaced,
        graceMs: scheduled.replaceGraceMs,
        message,
      },
    ]
  })
  if (newest.length === 0) return []
  const rows = await tx.run(displaceRuns, { made: newest, code: DISPLACED_CODE })
  return rows.map(displacedOf)
}

/** Which other runs of its schedule a new run displaces; null if none. */
function displacementOf({ policy, replacesRetry }: Scheduled) {
  const { displaces } = behaviourOf(policy.overlap)
  if (displaces === null && !replacesRetry) return null
  const takesStarted = displaces?.takesStarted ?? false
  return {
    takesUnstarted: displaces !== null,
    takesRetrying: replacesRetry || takesStarted,
    takesRunning: takesStarted,
    outcome: displaces?.outcome ?? "superseded",
  }
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
