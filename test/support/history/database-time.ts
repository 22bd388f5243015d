/**
 * A history has two clocks: lines carry the monotonic clock of the machine, rows the database's. A start that both
 * know converts one into the other.
 */
import type { AttemptRow } from "./final-read.ts"
import type { History } from "./operations.ts"

export interface DatabaseTime {
  /** Undefined where no start is known by both clocks. */
  readonly ofNs: (ns: bigint) => number | undefined
}

/** By the starts that are recorded on both sides. The median ignores up to half of them being wrong. */
export function databaseTimeOf(history: History, attempts: readonly AttemptRow[]): DatabaseTime {
  const started = new Map<string, number>()
  for (const { claim, run, startedAtUs } of attempts)
    if (claim !== null && startedAtUs !== null) started.set(`${run} ${claim}`, startedAtUs)
  const offsets: number[] = []
  for (const entry of history) {
    const startedAtUs = entry.op === "start" ? started.get(`${entry.run} ${entry.claim}`) : undefined
    if (startedAtUs !== undefined) offsets.push(startedAtUs - microseconds(entry.ns))
  }
  offsets.sort((a, b) => a - b)
  const offset = offsets[offsets.length >> 1]
  return { ofNs: (ns) => (offset === undefined ? undefined : microseconds(ns) + offset) }
}

function microseconds(ns: bigint): number {
  return Number(ns / 1_000n)
}
