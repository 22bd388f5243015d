/** Waits of callers until runs of a pool may be ready: for workers that ask over HTTP and have no loop here. */
import type { Runtime } from "../../runtime/runtime.ts"
import type { ReadyLane } from "./lane.ts"

export interface Arrivals {
  /** Runs are ready in this lane. `undefined`: in any. */
  readonly ring: (lane: ReadyLane | undefined) => void
  /** Resolves when runs of these pools may be ready, after `ms`, or when the signal aborts. */
  readonly wait: (pools: readonly string[], ms: number, signal: AbortSignal) => Promise<void>
}

export function createArrivals(runtime: Runtime): Arrivals {
  const waits = new Set<(lane: ReadyLane | undefined) => void>()
  return {
    ring: (lane) => {
      for (const wake of [...waits]) wake(lane)
    },
    wait: async (pools, ms, signal) => {
      const over = new AbortController()
      const wake = (lane: ReadyLane | undefined) => {
        if (lane === undefined || pools.includes(lane.pool)) over.abort()
      }
      waits.add(wake)
      await runtime.sleep(ms, AbortSignal.any([over.signal, signal]))
      waits.delete(wake)
    },
  }
}
