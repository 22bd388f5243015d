/**
 * Which claims of this process have come to an end: all that they took has been settled. The next claim takes their rows
 * away, so that whoever has to find what this process holds finds little else.
 *
 * One that is never told to have ended costs nothing but its row, which goes with the lease.
 */
import type { Fence } from "./claimed-run.ts"

export interface ClaimLedger {
  /** So many runs were taken by it. */
  readonly open: (fence: Fence, runs: number) => void
  /** One of them has ended. */
  readonly end: (fence: Fence) => void
  /** Whether so many claims have ended that taking them away is worth a statement of its own. */
  readonly hasManyEnded: () => boolean
  /** The claims under this lease that have ended; those of others are forgotten. */
  readonly takeEnded: (lease: string) => bigint[]
  /** They are still there: whoever was to take them away has failed. */
  readonly putBack: (lease: string, claims: readonly bigint[]) => void
}

const MANY_ENDED = 100

export function createClaimLedger(): ClaimLedger {
  let lease: string | undefined
  let left = new Map<bigint, number>()
  let ended: bigint[] = []

  /** Nothing that was claimed under an earlier lease is this process's to end. */
  function turnTo(current: string): void {
    if (lease === current) return
    lease = current
    left = new Map()
    ended = []
  }

  return {
    open: (fence, runs) => {
      turnTo(fence.lease)
      left.set(fence.claim, runs)
    },
    end: ({ claim }) => {
      const runs = left.get(claim)
      if (runs === undefined) return
      if (runs > 1) left.set(claim, runs - 1)
      else {
        left.delete(claim)
        ended.push(claim)
      }
    },
    hasManyEnded: () => ended.length >= MANY_ENDED,
    takeEnded: (current) => {
      turnTo(current)
      const claims = ended
      ended = []
      return claims
    },
    putBack: (of, claims) => {
      if (of === lease) ended = [...claims, ...ended]
    },
  }
}
