/**
 * Warns when runs are enqueued into a pool that no live worker serves, because its name is probably misspelt. The check
 * delays no enqueue. A pool that this process serves is not checked.
 */
import type { Events } from "../../observe/events.ts"
import { nearest } from "../../options/nearest.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { livePools } from "../../store/workers/live-pools.ts"

export interface PoolCheck {
  /** Runs of `job` were enqueued into this pool. */
  readonly entered: (pool: string, job: string) => void
}

export interface PoolCheckParts {
  readonly runtime: Runtime
  readonly events: Events
  /** The pools that this process serves once it has a lease. */
  readonly served: ReadonlyMap<string, unknown>
  readonly isOpen: () => boolean
}

/** The same pool is checked again after this time. */
const AGAIN_MS = 600_000
const MOST_POOLS = 1_000

export function createPoolCheck({ runtime, events, served, isOpen }: PoolCheckParts): PoolCheck {
  const askedAtMs = new Map<string, number>()

  async function check(pool: string, job: string): Promise<void> {
    const live = (await runtime.database.run(livePools, {})).map((row) => row.pool)
    if (live.includes(pool)) return
    const meant = nearest(pool, live)
    events.emit({ type: "pool.unserved", pool, job, ...(meant !== undefined && { meant }) })
  }

  return {
    entered: (pool, job) => {
      if (isOpen() && served.has(pool)) return
      const nowMs = runtime.monotonicMs()
      const askedMs = askedAtMs.get(pool)
      if (askedMs !== undefined && nowMs - askedMs < AGAIN_MS) return
      for (const [each, atMs] of askedAtMs) if (nowMs - atMs >= AGAIN_MS) askedAtMs.delete(each)
      if (askedAtMs.size >= MOST_POOLS) return
      askedAtMs.set(pool, nowMs)
      // Without the database, the loops report their own errors.
      check(pool, job).catch(() => askedAtMs.delete(pool))
    },
  }
}
