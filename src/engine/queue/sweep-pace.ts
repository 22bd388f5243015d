/** Looks that step over all that has died, which an old snapshot keeps: how long one may take, and how long it rests. */

/** A million entries take a second, and much longer from a disk. A stop waits for a walk, within its grace. */
export const WALK_DEADLINE_MS = 120_000
/** One that took a millisecond may be repeated after so many, which is a fiftieth of the time. */
const SHARE = 50
/** However long it took: what was overlooked shall not wait for hours. */
const MOST_REST_MS = 600_000

/** `leastMs`: however quick it was. */
export function restAfter(tookMs: number, { leastMs }: { readonly leastMs: number }): number {
  return Math.max(leastMs, Math.min(MOST_REST_MS, SHARE * tookMs))
}
