/**
 * Counts down the runs of each claim, and knows the claims whose runs have all been settled. When these are many, their
 * rows are deleted, so that the reaper and the look for lost claims read few rows.
 *
 * A claim whose runs are not all counted down keeps its row until its lease is gone.
 */
import type { Fence } from "./claimed-run.ts"

export interface ClaimLedger {
  /** This claim took so many runs. */
  readonly open: (fence: Fence, runs: number) => void
  /** One run of this claim has ended. */
  readonly end: (fence: Fence) => void
  /** Have enough claims ended to be worth a statement? */
  readonly hasManyEnded: () => boolean
  /** The ended claims of this lease. Claims of earlier leases are forgotten. */
  readonly takeEnded: (lease: string) => bigint[]
  /** The statement that was to delete these claims has failed. */
  readonly putBack: (lease: string, claims: readonly bigint[]) => void
}

/** Worth a statement: so many claims, or claims of so many runs. */
const MANY_CLAIMS = 100
const MANY_RUNS = 10_000

export function createClaimLedger(): ClaimLedger {
  let lease: string | undefined
  let left = new Map<bigint, number>()
  let ended: bigint[] = []
  /** Runs that have ended since rows were last deleted. */
  let runsEnded = 0

  /** Claims of an earlier lease go with that lease. */
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
