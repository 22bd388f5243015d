/**
 * Takes back the runs of processes that have stopped renewing their leases.
 *
 * A process that was cut off from the database cannot tell dead processes from others that were cut off too. So it
 * reaps only after the database has answered it for a whole lease. A short restart of the database may go unnoticed, so
 * no lease is reaped on a server that has just started.
 *
 * A process of the same host that is certainly dead is reaped at once. Deleted rows of leases are written again as dead
 * ones, once per lease, so that the runs under them are found.
 */
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { forgetClaims } from "../../store/claims/forget.ts"
import { reapRuns } from "../../store/runs/reap.ts"
import { forgetWorkers } from "../../store/workers/forget.ts"
import { listWorkersBeside } from "../../store/workers/list-beside.ts"
import { listHoldingWorkers } from "../../store/workers/list-holding.ts"
import { markDeadWorkers } from "../../store/workers/mark-dead.ts"
import { markGoneWorkers } from "../../store/workers/mark-gone.ts"
import { markMissingWorkers } from "../../store/workers/mark-missing.ts"
import { markOthersDead } from "../../store/workers/mark-others-dead.ts"
import { toDate } from "../../time/instant.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ReadyLane } from "../queue/lane.ts"
import type { Lease } from "./lease.ts"

export interface ReaperParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly lease: Lease
  readonly leaseMs: number
  readonly everyMs: number
  readonly onReady: (lane: ReadyLane) => void
  /** These limits may admit their next run. */
  readonly onRoom: (keys: readonly string[]) => void
  /** History now has this attempt as lost. */
  readonly onLost: (lost: LostAttempt) => void
}

export interface LostAttempt {
  readonly job: string
  readonly pool: string
  readonly tenant: string
  readonly isDead: boolean
}

const BATCH = 1_000
/** A claim that was under way when its lease died may commit late. Until then its lease is looked at again. */
const TOMBSTONE_MS = 86_400_000

export interface Reaper extends Loop {
  /**
   * Marks expired and missing leases dead and takes back their runs, however long the database has answered. Only on a
   * server that has been up for `upForMs`. @default 0
   */
  readonly reap: (upForMs?: number) => Promise<number>
  /** Takes over every other lease at once. Only where certainly no other process runs. */
  readonly inherit: () => Promise<void>
}

export function createReaper(parts: ReaperParts): Reaper {
  const { runtime, events, lease, leaseMs, everyMs } = parts
  const { database } = runtime
  let missingDueMs = 0
  let hasToldAwaited = false

  /** Not in every tick, because it reads every lease that has claims. */
  async function findMissing(): Promise<void> {
    await database.run(markMissingWorkers, {})
    missingDueMs = runtime.monotonicMs() + leaseMs
  }

  async function reap(upForMs = 0): Promise<number> {
    const dead = await database.run(markDeadWorkers, { own: lease.id(), upForMs })
    if (dead.length === 0) return 0
    await runtime.crashPoint("reap.marked")
    const total = await takeBack(dead.map((row) => row.lease))
    await database.run(forgetWorkers, { afterMs: TOMBSTONE_MS })
    return total
  }

  /** Reaps the processes of this host that are certainly dead. Returns the leases of the others. */
  async function takeOver(): Promise<string[]> {
    const proof = runtime.processes
    if (!proof?.self) return []
    const beside = await database.run(listWorkersBeside, { own: lease.id(), home: proof.self.home })
    const gone = beside.filter(({ pid, born }) => proof.isGone(pid, born)).map((row) => row.lease)
    if (gone.length > 0) {
      const marked = await database.run(markGoneWorkers, { leases: gone })
      await takeBack(marked.map((row) => row.lease))
    }
    return beside.map((row) => row.lease).filter((each) => !gone.includes(each))
  }

  /** Reports once which leases the runs of dead processes would have to wait for. */
  async function tellAwaited(live: readonly string[]): Promise<void> {
    const awaited = await database.run(listHoldingWorkers, { except: [lease.id(), ...live] })
    hasToldAwaited = true
    if (awaited.length === 0) return
    const until = toDate(Math.max(...awaited.map((row) => row.expires_at)))
    events.emit({ type: "leases.awaited", workers: awaited.map(({ worker }) => worker), until })
  }

  async function takeBack(leases: readonly string[]): Promise<number> {
    // Most dead leases belong to processes that stopped in order and hold no runs.
    const robbed = new Set<string>()
    let total = 0
    for (let taken = BATCH; taken === BATCH; ) {
      const rows = await withPartitions(database, () => database.run(reapRuns, { leases, limit: BATCH }))
      taken = rows.length
      total += taken
      for (const { lease: from, state, limit_keys: keys, ...row } of rows) {
        robbed.add(from)
        parts.onLost({ job: row.job, pool: row.pool, tenant: row.tenant, isDead: state === "dead" })
        const { pool, solo, priority, rank } = row
        if (state === "ready") parts.onReady({ pool, solo, priority, rank })
        if (keys !== null) parts.onRoom(JSON.parse(keys) as string[])
      }
    }
    if (total > 0) events.emit({ type: "lease.reaped", leases: [...robbed], runs: total })
    await database.run(forgetClaims, { leases })
    return total
  }

  return {
    name: "reaper",
    bell: createBell(runtime),
    tick: async () => {
      if (database.abilities.processes) {
        const live = await takeOver()
        if (!hasToldAwaited) await tellAwaited(live)
      }
      if (lease.reachableForMs() < leaseMs) return everyMs
      if (runtime.monotonicMs() >= missingDueMs) await findMissing()
      await reap(leaseMs)
      return everyMs
    },
    reap: async (upForMs) => {
      await findMissing()
      return reap(upForMs)
    },
    inherit: async () => {
      await database.run(markOthersDead, { own: lease.id() })
      await findMissing()
      await reap()
    },
  }
}
