/**
 * Which occurrences of a span of time a backfill makes runs of, and as which generation: a pure choice from what the
 * ledger says about them.
 */
import type { InstantMs } from "../time/instant.ts"
import type { Recurrence } from "../time/recurrence.ts"

/**
 * `missing`: those that have had no run: unknown to the ledger, skipped, or made up for by another. `failed`: also those
 * whose last run is a dead letter or has expired. `all`: also those whose last run ended otherwise.
 */
export type Reprocess = "missing" | "failed" | "all"

/** A row of the ledger. Of a stretch that made no run, `occurrence` is the first. */
export interface LedgerRow {
  readonly occurrence: InstantMs
  readonly generation: number
  readonly outcome: string
  /** What its run is or became, as far as that is known; not asked for when it makes no difference. */
  readonly run_state: string | null
}

/** An occurrence that gets a run. */
export interface Rerun {
  readonly occurrence: InstantMs
  /** One more than the ledger has of it: an occurrence and a generation are one run. */
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
  // It is going to happen: a second run beside it is not what anybody means.
  if (reprocess === "missing" || fired.some((row) => UNFINISHED.includes(row.run_state))) return false
  return reprocess === "all" || FAILED.includes(last.run_state)
}

/** From `from`, which counts, to `to`, which does not. */
export interface Span {
  readonly from: InstantMs
  readonly to: InstantMs
}

export interface Slice {
  /** In the order asked for. */
  readonly occurrences: readonly InstantMs[]
  /** What is left after them; `undefined`: nothing. */
  readonly rest: Span | undefined
}

/** The first occurrences of a span, or its last ones, and what is left of it. */
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

/** What a schedule is like, as far as it says what it may still decide by itself. */
export interface Undecided {
  readonly state: string
  readonly cursor: InstantMs
  readonly pausedAt: InstantMs | null
}

/**
 * Whether an occurrence of the past is left to backfills: the schedule has decided about it, or will not. What a pause has
 * come over will be skipped; what was due before it, and what an active schedule has not come to yet, is still its own.
 */
export function isLeftToBackfills({ state, cursor, pausedAt }: Undecided, at: InstantMs): boolean {
  if (at <= cursor) return true
  if (state === "active" || state === "error") return false
  return pausedAt === null || at >= pausedAt
}
