/**
 * What a schedule makes up for, and no more: a part of I9.
 *
 * A decision goes by a clock that was read after the decision before it was written. So whatever was due, or too
 * late, when the one before was written was so when this one was made, unless the clock was set back. The time from a
 * decision to its writing is unknown: one that was held up and the next may be written in the same moment. So of the
 * rows of one moment, all beyond those of two decisions are too many.
 */
import type { FireRow } from "./final-read.ts"
import { sayIf } from "./judgement.ts"
import { durationOf, type Misfire } from "./schedule-times.ts"

/** One statement writes them all, and reads the clock for each. */
const STATEMENT_US = 5_000
/** Instants of schedules are milliseconds. */
const GRAIN_US = 1_000
/** So many can have been written in one moment: one that was held up, and the one that came after it. */
const DECISIONS = 2

/** `ledger`: of one schedule that was never edited, without skipped occurrences and those that a resume made up for. */
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
      isAfter(second, before) && after !== undefined && before.decidedAtUs >= after.dueAtUs + GRAIN_US,
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
      isAfter(row, before) && before.decidedAtUs > row.dueAtUs + withinUs + GRAIN_US,
      () => `has made a run of ${iso(row)}, which was too late for that since before ${iso(before)}.`,
    )
  })
}

/** Decided later, by a clock that was not set back meanwhile. */
function isAfter(row: FireRow, before: FireRow | undefined): before is FireRow {
  return before !== undefined && row.decidedAtUs >= before.decidedAtUs
}

/** Rows of one moment, or so close together that their order is unknown. */
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

function tooMany(batch: readonly Fired[], max = Number.POSITIVE_INFINITY): string[] {
  const [head] = batch
  return sayIf(
    batch.length > DECISIONS * max,
    () => `makes up for ${max} at the most, and has made ${batch.length} runs at once from ${iso(head)} on.`,
  )
}

/** What one decision makes was all due within the time that is made up for. */
function tooLateOf(batch: readonly Fired[], withinUs: number): string[] {
  const [head] = batch
  let decisions = 0
  let untilUs = Number.NEGATIVE_INFINITY
  for (const dueAtUs of batch.map((row) => row.dueAtUs).sort((a, b) => a - b)) {
    if (dueAtUs <= untilUs) continue
    decisions += 1
    untilUs = dueAtUs + withinUs
  }
  return sayIf(
    decisions > DECISIONS,
    () =>
      `has made ${batch.length} runs at once from ${iso(head)} on, some of which were too late for that by the others.`,
  )
}

function iso(row: Pick<FireRow, "occurrenceUs"> | undefined): string {
  return new Date((row?.occurrenceUs ?? 0) / 1_000).toISOString()
}
