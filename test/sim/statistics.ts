/** What many seeds amount to, for people who wonder whether a simulation has done anything at all. */
import type { Simulation } from "./simulate.ts"

export interface Totals {
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

export function createTotals(): Totals {
  return { seeds: 0, failed: 0, steps: 0, virtualMs: 0, cpuMs: 0, counted: {}, judged: {}, faults: {} }
}

export function add(totals: Totals, result: Result): void {
  totals.seeds += 1
  totals.failed += result.says.length > 0 ? 1 : 0
  totals.steps += result.steps
  totals.virtualMs += result.virtualMs
  totals.cpuMs += result.cpuMs
  addEach(totals.counted, result.counted)
  addEach(totals.judged, result.judged)
  addEach(totals.faults, result.faults)
}

function addEach(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
}

export function describeTotals(totals: Totals): string {
  const { seeds, failed, steps, virtualMs, cpuMs, counted, judged, faults } = totals
  const unjudged = Object.keys(judged).filter((invariant) => judged[invariant] === 0)
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
