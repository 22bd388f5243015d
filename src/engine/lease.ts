/**
 * The lease of this process: one row that says it is alive, renewed from time to time.
 *
 * A lease that could not be renewed in time may be taken by others; then everything held under it is lost,
 * and the process goes on under a new one. It never revives the old.
 */
import type { Runtime } from "../runtime/runtime.ts"
import { registerWorker } from "../store/workers/register.ts"
import { renewLease } from "../store/workers/renew.ts"
import { retireWorker } from "../store/workers/retire.ts"
import { createBell, type Loop } from "./loop.ts"

export interface Lease extends Loop {
  /** The id under which to claim now. */
  readonly id: () => string
  readonly open: () => Promise<void>
  /** Gives the lease up. Refused by the database while runs are held under it. */
  readonly retire: () => Promise<void>
  /** For how long the database has answered without interruption. */
  readonly reachableForMs: () => number
}

export interface LeaseParts {
  readonly runtime: Runtime
  readonly pools: readonly string[]
  readonly leaseMs: number
  readonly renewEveryMs: number
  /** The lease is dead: nothing that was claimed under it may be settled any more. */
  readonly onLost: (lease: string) => void
}

/** A stop does not wait long for a database that is away; the lease then expires by itself. */
const RETIRE_MS = 5_000

export function createLease({ runtime, pools, leaseMs, renewEveryMs, onLost }: LeaseParts): Lease {
  const { database, facts } = runtime
  let id = runtime.newId()
  let isOpen = false
  let reachableSinceMs: number | undefined

  /** Each try under a new id: an earlier one whose answer was lost may be there. */
  async function open(): Promise<void> {
    id = runtime.newId()
    await database.run(
      registerWorker,
      { lease: id, hostname: facts.hostname, pid: facts.pid, pools, leaseMs },
      { lane: "vital" },
    )
    isOpen = true
    reachableSinceMs ??= runtime.monotonicMs()
  }

  async function renew(): Promise<void> {
    if (!isOpen) return open()
    const params = { lease: id, leaseMs }
    const renewed = await database.run(renewLease, params, { lane: "vital", deadlineMs: renewEveryMs })
    if (renewed.length === 0) {
      isOpen = false
      onLost(id)
      await open()
    }
    reachableSinceMs ??= runtime.monotonicMs()
  }

  return {
    name: "lease",
    bell: createBell(runtime),
    // After an outage nothing is more urgent than saying that we are still here.
    failureRestMs: renewEveryMs,
    tick: async () => {
      try {
        await renew()
      } catch (error) {
        reachableSinceMs = undefined
        throw error
      }
      return renewEveryMs
    },
    id: () => id,
    open,
    retire: async () => {
      if (!isOpen) return
      await database.run(retireWorker, { lease: id }, { lane: "vital", deadlineMs: RETIRE_MS })
    },
    reachableForMs: () => (reachableSinceMs === undefined ? 0 : runtime.monotonicMs() - reachableSinceMs),
  }
}
