/**
 * Claims runs for one pool, and cleans up after claims whose answers were lost.
 *
 * A claim that failed without a word may have taken runs that nobody here knows of, under a lease that goes on being
 * renewed. They all carry the number of that claim, so they are given back by it, again and again for as long as the
 * claim could still be under way.
 */
import { DEFAULTS } from "../defaults.ts"
import type { AnyJob } from "../job/define.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { isUncertain } from "../store/database-error.ts"
import { claimRuns } from "../store/runs/claim.ts"
import { releaseClaim } from "../store/runs/release.ts"
import type { ClaimedRun } from "./attempt.ts"
import type { Lease } from "./lease.ts"

export interface Claimer {
  /** Up to `limit` runs, in the order in which they should start. None of `except`. */
  readonly claim: (limit: number, except: readonly string[]) => Promise<ClaimedRun[]>
}

export interface ClaimerParts {
  readonly runtime: Runtime
  readonly pool: string
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly lease: Lease
}

/** A claim of which nobody knows what it did. */
interface Doubt {
  readonly lease: string
  readonly claim: bigint
  /** After this it cannot be under way any more. */
  readonly untilMs: number
}

const DOUBT_MS = 2 * DEFAULTS.deadlineMs

export function createClaimer({ runtime, pool, jobs, lease }: ClaimerParts): Claimer {
  const names = [...jobs.keys()]
  let doubts: Doubt[] = []

  async function resolveDoubts(): Promise<void> {
    for (const doubt of doubts) {
      await runtime.database.run(releaseClaim, { lease: doubt.lease, claim: doubt.claim })
    }
    const nowMs = runtime.monotonicMs()
    doubts = doubts.filter(({ untilMs, lease: old }) => untilMs > nowMs && old === lease.id())
  }

  return {
    claim: async (limit, except) => {
      if (doubts.length > 0) await resolveDoubts()
      const mine = { lease: lease.id(), claim: runtime.randomBits() }
      const rows = await runtime.database
        .run(claimRuns, { ...mine, pool, jobs: names, except, limit })
        .catch((error: unknown) => {
          if (isUncertain(error)) doubts.push({ ...mine, untilMs: runtime.monotonicMs() + DOUBT_MS })
          throw error
        })
      // Lost while we claimed: these runs will be reaped with the rest of the old lease.
      if (lease.id() !== mine.lease) return []
      return rows
        .sort((a, b) => b.priority - a.priority || (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
        .flatMap(({ id, job: name, attempt, due_at: due, input }) => {
          const job = jobs.get(name)
          return job ? [{ ...mine, id, job, attempt: attempt + 1, due, input }] : []
        })
    },
  }
}
