/** The stored instants of a database whose clock was set, converted to the true clock. */
import type { AttemptRow, FinalRead } from "../support/history/final-read.ts"
import type { ClockStep } from "./clock.ts"

/**
 * Every reading belongs to the stretch between two steps in which the clock showed it; steps are so far apart from what
 * the stretches last that there is one. Instants of schedules stay as they are: they are the clock's own.
 */
export function inTrueTime(final: FinalRead, steps: readonly ClockStep[]): FinalRead {
  const trueUs = (readingUs: number) => readingUs - aheadAt(readingUs / 1_000, steps) * 1_000
  const attempts = final.attempts.map((row): AttemptRow => {
    // A start is told to the database as so long before its end.
    const aheadUs = row.finishedAtUs - trueUs(row.finishedAtUs)
    return {
      ...row,
      finishedAtUs: row.finishedAtUs - aheadUs,
      startedAtUs: row.startedAtUs === null ? null : row.startedAtUs - aheadUs,
      enqueuedAtUs: trueUs(row.enqueuedAtUs),
      dueAtUs: trueUs(row.dueAtUs),
    }
  })
  const audit = final.audit.map((row) => (row.run === null ? row : { ...row, atUs: trueUs(row.atUs) }))
  return { ...final, attempts, audit }
}

/** A reading that was never shown was planned for later, by the last clock that was behind it. */
function aheadAt(readingMs: number, steps: readonly ClockStep[]): number {
  const shown = steps.findLast(({ trueMs, aheadMs }, index) => {
    const endMs = steps[index + 1]?.trueMs ?? Number.POSITIVE_INFINITY
    return readingMs >= trueMs + aheadMs && readingMs < endMs + aheadMs
  })
  const behind = steps.findLast(({ trueMs, aheadMs }) => readingMs >= trueMs + aheadMs)
  return (shown ?? behind ?? steps[0])?.aheadMs ?? 0
}
