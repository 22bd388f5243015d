/**
 * Which claims of this process have come to an end: all that they took has been settled. When they are many their rows are
 * taken away, so that whoever has to find what this process holds finds little else.
 *
 * One that is never told to have ended costs nothing but its row, which goes with the lease.
 */
import type { Fence } from "./claimed-run.ts"

export interface ClaimLedger {
  /** So many runs were taken by it. */
  readonly open: (fence: Fence, runs: number) => void
  /** One of them has ended. */
  readonly end: (fence: Fence) => void
  /** Whether so much has ended that taking it away is worth a statement. */
  readonly hasManyEnded: () => boolean
  /** The claims under this lease that have ended; those of others are forgotten. */
  readonly takeEnded: (lease: string) => bigint[]
  /** They are still there: whoever was to take them away has failed. */
  readonly putBack: (lease: string, claims: readonly bigint[]) => void
}

/** What is worth a statement: so many claims, or claims of so many runs. */
const MANY_CLAIMS = 100
const MANY_RUNS = 10_000

export function createClaimLedger(): ClaimLedger {
  let lease: string | undefined
  let left = new Map<bigint, number>()
  let ended: bigint[] = []
  /** How many runs have ended since claims were last taken away. */
  let runsEnded = 0

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
      runsEnded += 1
      if (runs > 1) left.set(claim, runs - 1)
      else {
        left.delete(claim)
        ended.push(claim)
      }
    },
    hasManyEnded: () => ended.length >= MANY_CLAIMS || (ended.length > 0 && runsEnded >= MANY_RUNS),
    takeEnded: (current) => {
      turnTo(current)
      const claims = ended
      ended = []
      runsEnded = 0
      return claims
    },
    putBack: (of, claims) => {
      if (of === lease) ended = [...claims, ...ended]
    },
  }
}
