/** What many seeds amount to, for people who wonder whether a simulation has done anything at all. */
import { INVARIANTS } from "../support/history/violation.ts"
import type { Simulation } from "./simulate.ts"

/** The first seed and the last. */
export type SeedRange = readonly [first: number, last: number]

export interface Totals {
  /** Which seeds were to be simulated. */
  readonly ranges: SeedRange[]
  /** How many of them were. */
  seeds: number
  failed: number
  steps: number
  virtualMs: number
  cpuMs: number
  /** What the judge counted: runs, starts, duplicates and so on. */
  readonly counted: Record<string, number>
  /** How many facts each invariant was held against. */
  readonly judged: Record<string, number>
  readonly faults: Record<string, number>
}

/** What one seed adds to them. */
export interface Result {
  readonly seed: number
  readonly hash: string
  readonly steps: number
  readonly virtualMs: number
  readonly cpuMs: number
  readonly counted: Readonly<Record<string, number>>
  readonly judged: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  /** What is wrong; nothing if all is well. */
  readonly says: readonly string[]
}

export function resultOf(simulation: Simulation, cpuMs: number): Result {
  const { seed, hash, steps, virtualMs, faults, examination, says } = simulation
  const { statistics, judged } = examination
  return { seed, hash, steps, virtualMs, cpuMs, faults, says, counted: { ...statistics }, judged }
}

export function createTotals(ranges: readonly SeedRange[]): Totals {
  return {
    ranges: [...ranges],
    seeds: 0,
    failed: 0,
    steps: 0,
    virtualMs: 0,
    cpuMs: 0,
    counted: {},
    judged: {},
    faults: {},
  }
}

export function add(totals: Totals, result: Result): void {
  const { steps, virtualMs, cpuMs, counted, judged, faults, says } = result
  const failed = says.length > 0 ? 1 : 0
  addTotals(totals, { seeds: 1, failed, steps, virtualMs, cpuMs, counted, judged, faults })
}

/** The same for what many seeds amount to; what an older file does not say adds nothing. */
export function addTotals(totals: Totals, more: Partial<Totals>): void {
  totals.seeds += more.seeds ?? 0
  totals.failed += more.failed ?? 0
  totals.steps += more.steps ?? 0
  totals.virtualMs += more.virtualMs ?? 0
  totals.cpuMs += more.cpuMs ?? 0
  addEach(totals.counted, more.counted ?? {})
  addEach(totals.judged, more.judged ?? {})
  addEach(totals.faults, more.faults ?? {})
}

function addEach(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
}

export function describeTotals(totals: Totals): string {
  const { seeds, failed, steps, virtualMs, cpuMs, counted, judged, faults } = totals
  const unjudged = Object.keys(INVARIANTS).filter((invariant) => !judged[invariant])
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")
  return [
    `${seeds} seeds, ${failed} failed; ${steps} steps, ${Math.round(virtualMs / 60_000)} minutes of virtual time, ` +
      `${Math.round(cpuMs / Math.max(1, seeds))} ms of CPU for each`,
    `counted: ${list(counted)}`,
    `judged: ${list(judged)}`,
    `not judged: ${unjudged.join(", ") || "nothing"}`,
    `faults: ${list(faults)}`,
  ].join("\n")
}
