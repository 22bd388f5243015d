/** Sums over points of statistics. */
import type { StatsPoint } from "./records.ts"

const MINUTE_MS = 60_000

/** The bounds of the buckets of waits and durations; the last bucket is open. */
export const BUCKETS_MS = [
  5, 10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
] as const

/** The minutes from `from` on, as instants. */
export function minutesFrom(fromMs: number, count: number, stepMs = MINUTE_MS): readonly number[] {
  const first = Math.floor(fromMs / stepMs) * stepMs
  return Array.from({ length: count }, (_, index) => first + index * stepMs)
}

/** One sum for each step. */
export function perStep(
  points: readonly StatsPoint[],
  steps: readonly number[],
  amountOf: (point: StatsPoint) => number,
): readonly number[] {
  const sums = new Map<number, number>()
  for (const point of points) {
    const at = Date.parse(point.at)
    sums.set(at, (sums.get(at) ?? 0) + amountOf(point))
  }
  return steps.map((at) => sums.get(at) ?? 0)
}

export function sumOf<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amountOf(item), 0)
}

/** Items by a key, in the order in which keys appear. */
export function groupedBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** Histograms added up, bucket by bucket. */
export function addedBuckets(histograms: readonly (readonly number[])[]): readonly number[] {
  return histograms.reduce<number[]>((sum, buckets) => {
    for (const [index, count] of buckets.entries()) sum[index] = (sum[index] ?? 0) + count
    return sum
  }, [])
}

/** Attempts that ended badly. */
export function isFailure({ outcome }: StatsPoint): boolean {
  return outcome === "failed" || outcome === "timed_out" || outcome === "lost"
}
