/** What the process asks about the attempts of all its pools together. */
import { lostReason } from "../attempts/abort-reasons.ts"
import type { PoolLoop } from "./pool-loop.ts"

/** The longest timeout of the running handlers. Null if none has one. */
export function longestTimeoutMs(poolLoops: readonly PoolLoop[]): number | null {
  let longest: number | null = null
  for (const poolLoop of poolLoops) {
    for (const { run } of poolLoop.running()) {
      if (run.timeoutMs !== null) longest = Math.max(longest ?? 0, run.timeoutMs)
    }
  }
  return longest
}

/** Aborts the attempts that were claimed under a dead lease. */
export function abortLost(poolLoops: readonly PoolLoop[], lease: string): number {
  const lost = poolLoops.flatMap((poolLoop) => poolLoop.running()).filter(({ run }) => run.lease === lease)
  for (const attempt of lost) attempt.abort(lostReason(attempt.run.id, attempt.run.attempt))
  return lost.length
}
