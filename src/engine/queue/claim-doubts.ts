/**
 * Claims whose answers were lost. Such a claim may have taken runs under a lease that this process still renews,
 * without this process knowing them.
 *
 * All of these runs carry the number of the claim, so a look for that number finds and releases them. Looks repeat as
 * long as the lease lives: at every claim while the statement may still be running, once a minute after that. A server
 * that does not notice the broken connection may wait for a lock for an hour and then commit.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findClaimed } from "../../store/runs/find-claimed.ts"
import { releaseUnknown, type WorkerIdentity } from "../attempts/settle.ts"
import type { Lease } from "../process/lease.ts"
import type { Fence } from "./claimed-run.ts"

export interface ClaimDoubts {
  readonly add: (claim: Fence) => void
  /** Releases the runs of doubtful claims. `isLast`: also of claims that are looked for only once a minute by now. */
  readonly resolve: (asked?: { readonly isLast: boolean }) => Promise<void>
}

interface Doubt extends Fence {
  readonly likelyUntilMs: number
  askAtMs: number
}

export interface ClaimDoubtsParts {
  readonly runtime: Runtime
  readonly lease: Lease
  readonly identity: WorkerIdentity
  readonly onReady: (pool: string | undefined) => void
}

const LIKELY_MS = 2 * DEFAULTS.deadlineMs
const RARELY_MS = 60_000
/** Beyond this the oldest are forgotten, so that an outage of days does not fill the memory. */
const MOST_REMEMBERED = 1_000

export function createClaimDoubts({ runtime, lease, identity, onReady }: ClaimDoubtsParts): ClaimDoubts {
  const { database, monotonicMs } = runtime
  let doubts: Doubt[] = []

  return {
    add: (claim) => {
      const likelyUntilMs = monotonicMs() + LIKELY_MS
      doubts = [...doubts, { ...claim, likelyUntilMs, askAtMs: 0 }].slice(-MOST_REMEMBERED)
    },
    resolve: async ({ isLast } = { isLast: false }) => {
      // The reaper takes back the runs of a dead lease.
      doubts = doubts.filter((doubt) => doubt.lease === lease.id())
      const nowMs = monotonicMs()
      const asked = doubts.filter(({ askAtMs }) => isLast || askAtMs <= nowMs)
      if (asked.length === 0) return
      for (const doubt of asked) if (nowMs >= doubt.likelyUntilMs) doubt.askAtMs = nowMs + RARELY_MS
      const held = lease.id()
      const taken = await database.run(findClaimed, { lease: held, claims: asked.map(({ claim }) => claim) })
      for (const claim of new Set(taken.map((each) => each.claim))) {
        const ids = taken.filter((each) => each.claim === claim).map(({ id }) => id)
        await releaseUnknown(runtime, identity, { lease: held, claim, ids })
        onReady(undefined)
      }
    },
  }
}
