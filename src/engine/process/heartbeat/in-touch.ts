/** How long the database has answered this process without interruption. */
export interface InTouch {
  /** A call that was sent then was answered. */
  readonly reached: (sentAtMs: number) => void
  /** A call failed then. Answers to earlier calls say nothing about the time after it. */
  readonly failed: (atMs: number) => void
  readonly forMs: (nowMs: number) => number
}

/**
 * A gap of `gapMs` without an answer is an interruption too: a process that slept does not know what happened
 * meanwhile.
 */
export function createInTouch(gapMs: number): InTouch {
  let sinceMs: number | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  let failedMs = Number.NEGATIVE_INFINITY
  return {
    reached: (sentAtMs) => {
      if (sentAtMs < failedMs) return
      if (sinceMs === undefined || sentAtMs - lastMs > gapMs) sinceMs = sentAtMs
      lastMs = Math.max(lastMs, sentAtMs)
    },
    failed: (atMs) => {
      failedMs = Math.max(failedMs, atMs)
      sinceMs = undefined
    },
    forMs: (nowMs) => (sinceMs === undefined || nowMs - lastMs > gapMs ? 0 : nowMs - sinceMs),
  }
}
