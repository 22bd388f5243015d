/**
 * Takes back the runs of processes that have stopped renewing their leases.
 *
 * A process that was cut off from the database itself cannot tell the dead from the equally cut off, so it
 * reaps only after it has been in touch for a whole lease. It may not notice a restart of the database that takes but a
 * moment, so a server that has just started expires nobody either.
 *
 * A process that is dead for certain, because this one is on the same host and sees that, is not waited for.
 * The runs of a lease are found whether its row is there or not: once per lease the rows that a person deleted are
 * written again, as dead ones.
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
  /** There may be room under these limits. */
  readonly onRoom: (keys: readonly string[]) => void
}

const BATCH = 1_000
/** A claim that was under way when its lease died may come in late; until then its lease is looked at again. */
const TOMBSTONE_MS = 86_400_000

export interface Reaper extends Loop {
  /**
   * Marks expired leases dead, and those whose rows are gone, and takes their runs back, without asking how long we have
   * been in touch; on a server that has been up for so long. @default 0
   */
  readonly reap: (upForMs?: number) => Promise<number>
  /** Takes back at once what any other process has left, where there is certainly no other. */
  readonly inherit: () => Promise<void>
}

export function createReaper(parts: ReaperParts): Reaper {
  const { runtime, events, lease, leaseMs, everyMs } = parts
  const { database } = runtime
  let missingDueMs = 0
  let hasToldAwaited = false

  /** Not with every tick: it looks at every lease that has claims. */
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

  /** Takes over at once from processes of this host that are dead for certain. Returns those that are not. */
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

  /** Says once whose runs would wait for the end of a lease, if that process is dead. */
  async function tellAwaited(live: readonly string[]): Promise<void> {
    const awaited = await database.run(listHoldingWorkers, { except: [lease.id(), ...live] })
    hasToldAwaited = true
    if (awaited.length === 0) return
    const until = toDate(Math.max(...awaited.map((row) => row.expires_at)))
    events.emit({ type: "leases.awaited", workers: awaited.map(({ worker }) => worker), until })
  }

  async function takeBack(leases: readonly string[]): Promise<number> {
    // Most dead leases are those of processes that stopped in order and hold nothing.
    const robbed = new Set<string>()
    let total = 0
    for (let taken = BATCH; taken === BATCH; ) {
      const rows = await withPartitions(database, () => database.run(reapRuns, { leases, limit: BATCH }))
      taken = rows.length
      total += taken
      for (const { lease: from, state, limit_keys: keys, ...row } of rows) {
        robbed.add(from)
        if (state === "ready") parts.onReady(row)
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
