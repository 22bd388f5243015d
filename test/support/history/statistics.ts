/** What a history amounts to, for people who wonder whether a test has done anything at all. */
import { entriesOf, type Facts } from "./facts.ts"
import type { History } from "./operations.ts"

export interface Statistics {
  readonly processes: number
  readonly operations: number
  readonly runs: number
  readonly acknowledged: number
  /** Enqueues with an unknown outcome. */
  readonly uncertain: number
  readonly starts: number
  /** Starts beyond the first of each run. */
  readonly duplicates: number
  readonly succeeded: number
  readonly dead: number
  readonly lost: number
  /** Losses that were charged to the run. */
  readonly chargedLosses: number
  readonly released: number
  /** Late settles that were refused. */
  readonly fenced: number
  /** Cancels of which a handler had to hear in time. */
  readonly notices: number
  /** How often a reader read all of history while runs were ending. */
  readonly followed: number
}

export function countFacts({ history, runs }: Facts): Statistics {
  const rows = runs.flatMap((run) => run.rows)
  const starts = runs.map(({ entries }) => entriesOf(entries, "start").length)
  const lost = rows.filter(({ outcome }) => outcome === "lost")
  return {
    processes: new Set(history.map(({ pid }) => pid)).size,
    operations: history.length,
    runs: runs.filter(({ live, rows: attempts }) => live.length + attempts.length > 0).length,
    acknowledged: runs.filter(({ entries }) => entriesOf(entries, "enq_ok").length > 0).length,
    uncertain: entriesOf(history, "enq_info").length,
    starts: sum(starts),
    duplicates: sum(starts.map((count) => Math.max(0, count - 1))),
    succeeded: rows.filter(({ runState }) => runState === "succeeded").length,
    dead: rows.filter(({ runState }) => runState === "dead").length,
    lost: lost.length,
    chargedLosses: lost.filter(({ charged }) => charged).length,
    released: rows.filter(({ outcome }) => outcome === "released").length,
    fenced: entriesOf(history, "fenced").length,
    notices: entriesOf(history, "cancel_ok").filter(({ withinMs }) => withinMs !== undefined).length,
    followed: countFollowed(history),
  }
}

/** Readers that recorded their begin, and came to the end. */
function countFollowed(history: History): number {
  const begun = new Set<number>()
  let times = 0
  for (const { op, pid } of entriesOf(history, "reader_from", "reader_done", "reader_gone")) {
    if (op === "reader_from") begun.add(pid)
    else if (begun.delete(pid) && op === "reader_done") times += 1
  }
  return times
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
