/**
 * How many runs to claim ahead of free slots: as many as the pool ends in a tenth of a second, judged by what it has just
 * done. A pool of slow handlers claims nothing ahead, one of fast handlers enough never to wait for a claim.
 */
export interface Prefetch {
  /** A slot has become free. */
  readonly ended: () => void
  /** How many to have in store. */
  readonly target: () => number
}

const AHEAD_MS = 100
const MOST = 2_000
/** Over about which time the rate is averaged: a pool whose slots all end together is no faster for that. */
const AVERAGED_MS = 50
/** More often than this it is not worth measuring. */
const STEP_MS = 1

export function createPrefetch(monotonicMs: () => number): Prefetch {
  let ratePerMs = 0
  let count = 0
  let sinceMs = monotonicMs()

  return {
    ended: () => {
      count += 1
    },
    target: () => {
      const elapsedMs = monotonicMs() - sinceMs
      if (elapsedMs >= STEP_MS) {
        const weight = 1 - Math.exp(-elapsedMs / AVERAGED_MS)
        ratePerMs += weight * (count / elapsedMs - ratePerMs)
        count = 0
        sinceMs = monotonicMs()
      }
      return Math.min(MOST, Math.floor(ratePerMs * AHEAD_MS))
    },
  }
}
