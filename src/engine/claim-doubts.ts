/**
 * Claims whose answers were lost. Such a claim may have taken runs that nobody here knows of, under a lease that goes on
 * being renewed. They all carry the number of that claim, so they are given back by it, again and again for as long as
 * the claim could still be under way.
 */
import { DEFAULTS } from "../defaults.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { findClaimed } from "../store/runs/find-claimed.ts"
import type { Lease } from "./lease.ts"
import { releaseUnknown, type WorkerIdentity } from "./settle-batch.ts"

export interface ClaimDoubts {
  readonly add: (claim: DoubtfulClaim) => void
  /** Gives back what doubtful claims have taken. */
  readonly resolve: () => Promise<void>
}

export interface DoubtfulClaim {
  readonly lease: string
  readonly claim: bigint
}

export interface ClaimDoubtsParts {
  readonly runtime: Runtime
  readonly lease: Lease
  readonly identity: WorkerIdentity
  readonly onReady: (pool: string | undefined) => void
}

const DOUBT_MS = 2 * DEFAULTS.deadlineMs

export function createClaimDoubts({ runtime, lease, identity, onReady }: ClaimDoubtsParts): ClaimDoubts {
  const { database, monotonicMs } = runtime
  let doubts: (DoubtfulClaim & { readonly untilMs: number })[] = []

  return {
    add: (claim) => {
      doubts.push({ ...claim, untilMs: monotonicMs() + DOUBT_MS })
    },
    resolve: async () => {
      if (doubts.length === 0) return
      for (const doubt of doubts) {
        const taken = await database.run(findClaimed, { lease: doubt.lease, claim: doubt.claim })
        if (taken.length === 0) continue
        await releaseUnknown(runtime, identity, { ...doubt, ids: taken.map(({ id }) => id) })
        onReady(undefined)
      }
      const nowMs = monotonicMs()
      // After that long it cannot be under way any more, and a dead lease is reaped with all that it holds.
      doubts = doubts.filter((doubt) => doubt.untilMs > nowMs && doubt.lease === lease.id())
    },
  }
}
