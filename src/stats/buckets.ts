/** Sorts waits and durations into fixed buckets. Buckets of different processes and times can therefore be added up. */

/** The upper bound of each bucket, inclusive. One more bucket holds what is longer. */
export const BUCKETS_MS = [
  5, 10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
] as const

export const BUCKET_COUNT = BUCKETS_MS.length + 1

/** The place of a time in a list of `BUCKET_COUNT` numbers. */
export function bucketOf(ms: number): number {
  for (let place = 0; place < BUCKETS_MS.length; place += 1) {
    if (ms <= (BUCKETS_MS[place] as number)) return place
  }
  return BUCKETS_MS.length
}

export function emptyBuckets(): number[] {
  return new Array<number>(BUCKET_COUNT).fill(0)
}

/**
 * The bound below which this share of the times lies: `share` 0.95 is the 95th percentile. It is the upper bound of a
 * bucket, so the true value is at most this. Infinity stands for the last bucket, undefined for no times.
 */
export function percentileMs(buckets: readonly number[], share: number): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  for (const [place, count] of buckets.entries()) {
    seen += count
    if (seen >= rank) return BUCKETS_MS[place] ?? Number.POSITIVE_INFINITY
  }
  return Number.POSITIVE_INFINITY
}
