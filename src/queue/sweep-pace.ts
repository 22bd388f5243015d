/**
 * How often to repeat long work that is not urgent: sweeps, the walks of the mover, vacuums.
 *
 * While an old snapshot keeps dead index entries, such work may have to step over millions of them. It takes at most a
 * fiftieth of the time, so that it costs little, however long one pass takes.
 */

/** A million entries take a second, and much longer from a disk. A stop waits for a walk, within its grace. */
export const WALK_DEADLINE_MS = 120_000
const REST_PER_WORK = 50
/** A run that was overlooked must not wait for hours. */
const MOST_REST_MS = 600_000

export interface RestBounds {
  /** The rest after a quick pass. @default 0 */
  readonly leastMs?: number
  /** The rest after a slow pass. @default 10 minutes */
  readonly mostMs?: number
}

/** How long to rest after a pass that took so long. */
export function restAfter(tookMs: number, { leastMs = 0, mostMs = MOST_REST_MS }: RestBounds = {}): number {
  return Math.min(mostMs, Math.max(leastMs, REST_PER_WORK * tookMs))
}
