/**
 * What a schedule makes up for, and no more: a part of I9.
 *
 * A decision goes by a clock that was read after the decision before it was written. So whatever was due, or too late,
 * when the one before was written was so when this one was made; and of what was decided together, everything was due. How
 * long it takes from a decision to its writing is not known, and nothing here depends on it.
 */
import type { FireRow } from "./final-read.ts"
import { sayIf } from "./judgement.ts"
import { durationOf, type Misfire } from "./schedule-times.ts"

/** One statement writes them all, and reads the clock for each. */
const STATEMENT_US = 5_000
/** Starts that a schedule was told of in milliseconds. */
const GRAIN_US = 1_000

/** `ledger`: of one schedule that was never edited, without what was left out by request or made up for by a resumption. */
export function complaintsAboutMisfires(misfire: Misfire, ledger: readonly FireRow[]): string[] {
  const first = ledger.filter(({ generation }) => generation === 1)
  const fired = first.filter((row): row is Fired => row.outcome === "fired" && row.dueAtUs !== null)
  const within = durationOf(misfire.within ?? "never")
  const withinUs = within === undefined ? Number.POSITIVE_INFINITY : within * 1_000
  return misfire.mode === "latest"
    ? [...beyondTheLatest(fired), ...tooLate(fired, first, withinUs)]
    : batchesOf(fired).flatMap((batch) => [...tooMany(batch, misfire.max), ...tooLateOf(batch, withinUs)])
}

type Fired = FireRow & { readonly dueAtUs: number }

/** When the first of three was written the last was due: so the second should have stood back for it. */
function beyondTheLatest(fired: readonly Fired[]): string[] {
  return fired.flatMap((second, index) => {
    const [before, after] = [fired[index - 1], fired[index + 1]]
    return sayIf(
      before !== undefined && after !== undefined && before.decidedAtUs >= after.dueAtUs + GRAIN_US,
      () => `makes up for the newest alone, and has made a run of ${iso(second)} when ${iso(after)} was due.`,
    )
  })
}

function tooLate(fired: readonly Fired[], ledger: readonly FireRow[], withinUs: number): string[] {
  return fired.flatMap((row) => {
    const before = ledger.findLast(
      ({ occurrenceUs, intoUs }) => occurrenceUs < row.occurrenceUs && intoUs !== row.occurrenceUs,
    )
    return sayIf(
      before !== undefined && before.decidedAtUs > row.dueAtUs + withinUs + GRAIN_US,
      () => `has made a run of ${iso(row)}, which was too late for that since before ${iso(before)}.`,
    )
  })
}

/** What was decided at once, or so shortly after each other that nobody can tell. */
function batchesOf(fired: readonly Fired[]): Fired[][] {
  const batches: Fired[][] = []
  for (const row of fired) {
    const batch = batches.at(-1)
    const [head] = batch ?? []
    if (batch && head && Math.abs(row.decidedAtUs - head.decidedAtUs) <= STATEMENT_US) batch.push(row)
    else batches.push([row])
  }
  return batches
}

/** One more may have become due between two decisions. */
function tooMany(batch: readonly Fired[], max = Number.POSITIVE_INFINITY): string[] {
  const [head] = batch
  return sayIf(
    batch.length > max + 1,
    () => `makes up for ${max} at the most, and has made ${batch.length} runs at once from ${iso(head)} on.`,
  )
}

function tooLateOf(batch: readonly Fired[], withinUs: number): string[] {
  // The last may have been decided a moment after the others.
  const due = batch.map(({ dueAtUs }) => dueAtUs).sort((a, b) => a - b)
  const knownUs = due.at(-2) ?? Number.NEGATIVE_INFINITY
  return batch
    .filter(({ dueAtUs }) => dueAtUs + withinUs < knownUs)
    .map((row) => `has made a run of ${iso(row)}, which was too late for that by what it made with it.`)
}

function iso(row: Pick<FireRow, "occurrenceUs"> | undefined): string {
  return new Date((row?.occurrenceUs ?? 0) / 1_000).toISOString()
}
