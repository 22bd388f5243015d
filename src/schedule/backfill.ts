/**
 * Chooses which occurrences of a period a backfill runs, and as which generation: a pure function of the ledger.
 */
import type { InstantMs } from "../time/instant.ts"
import type { Recurrence } from "../time/recurrence.ts"

/**
 * Which occurrences a backfill runs.
 *
 * - `missing`: occurrences without a run: absent from the ledger, skipped, or coalesced into another.
 * - `failed`: also occurrences whose last run is dead or expired.
 * - `all`: also occurrences whose last run ended in any other way.
 */
export type Reprocess = "missing" | "failed" | "all"

/** A row of the ledger. For a stretch without runs, `occurrence` is its first one. */
export interface LedgerRow {
  readonly occurrence: InstantMs
  readonly generation: number
  readonly outcome: string
  /** The state of its run. Null if it is unknown, or does not matter to this backfill. */
  readonly run_state: string | null
}

/** An occurrence that gets a run. */
export interface Rerun {
  readonly occurrence: InstantMs
  /** One more than the highest generation in the ledger. Occurrence and generation identify a run. */
  readonly generation: number
}

const UNFINISHED: readonly (string | null)[] = ["waiting", "parked", "ready", "running"]
const FAILED: readonly (string | null)[] = ["dead", "expired"]

export function chooseReruns(
  occurrences: readonly InstantMs[],
  ledger: readonly LedgerRow[],
  reprocess: Reprocess,
): Rerun[] {
  const known = new Map<InstantMs, LedgerRow[]>()
  for (const row of ledger) known.set(row.occurrence, [...(known.get(row.occurrence) ?? []), row])
  return occurrences.flatMap((occurrence) => {
    const rows = known.get(occurrence) ?? []
    if (!isWanted(rows, reprocess)) return []
    return [{ occurrence, generation: Math.max(0, ...rows.map(({ generation }) => generation)) + 1 }]
  })
}

function isWanted(rows: readonly LedgerRow[], reprocess: Reprocess): boolean {
  const fired = rows.filter(({ outcome }) => outcome === "fired")
  const last = fired.toSorted((a, b) => a.generation - b.generation).at(-1)
  if (!last) return true
  // A run of this occurrence is already waiting or running.
  if (reprocess === "missing" || fired.some((row) => UNFINISHED.includes(row.run_state))) return false
  return reprocess === "all" || FAILED.includes(last.run_state)
}

/** The period [from, to). */
export interface Span {
  readonly from: InstantMs
  readonly to: InstantMs
}

export interface Slice {
  /** In the requested order. */
  readonly occurrences: readonly InstantMs[]
  /** The part of the span that is left. `undefined` if none is. */
  readonly rest: Span | undefined
}

/** Takes the first or the last `limit` occurrences of a span. */
export function sliceOf(
  recurrence: Recurrence,
  { from, to }: Span,
  { order, limit }: { readonly order: "oldest" | "newest"; readonly limit: number },
): Slice {
  const step = order === "oldest" ? recurrence.next : recurrence.previous
  const occurrences: InstantMs[] = []
  let at = order === "oldest" ? recurrence.next(from - 1) : recurrence.previous(to)
  while (at !== undefined && at >= from && at < to && occurrences.length < limit) {
    occurrences.push(at)
    at = step(at)
  }
  const last = occurrences.at(-1)
  if (last === undefined || occurrences.length < limit) return { occurrences, rest: undefined }
  return { occurrences, rest: order === "oldest" ? { from: last + 1, to } : { from, to: last } }
}

/** The facts that tell which occurrences a schedule will still decide by itself. */
export interface DecisionState {
  readonly state: string
  readonly cursor: InstantMs
  readonly pausedAt: InstantMs | null
}

/**
 * Whether a backfill may run a past occurrence. It may if the schedule has decided it or never will.
 *
 * A schedule skips the occurrences that fall into a pause. It still decides those from before the pause, and, while it
 * is active, those that it has not reached yet.
 */
export function mayBackfill({ state, cursor, pausedAt }: DecisionState, at: InstantMs): boolean {
  if (at <= cursor) return true
  if (state === "active" || state === "error") return false
  return pausedAt === null || at >= pausedAt
}
