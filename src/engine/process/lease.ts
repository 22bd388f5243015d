/**
 * The lease of this process: one row that says it is alive, renewed from time to time.
 *
 * A thread of its own renews it, so that a busy event loop does not lose it; where there is none, or it does not get
 * through, the main loop does. A lease that could not be renewed in time may be taken by others; then everything held
 * under it is lost, and the process goes on under a new one. It never revives the old.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { LossReason } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { registerWorker } from "../../store/workers/register.ts"
import { retireWorker } from "../../store/workers/retire.ts"
import { createBell, type Loop } from "../loop.ts"
import { type Board, createBoard, type FromThread } from "./heartbeat/board.ts"
import { createHeartbeat } from "./heartbeat/heartbeat.ts"
import { createInTouch } from "./heartbeat/in-touch.ts"
import { judgeLease, maxBlockOf, pulseEveryMs, spareMs } from "./heartbeat/policy.ts"
import { createRenewer } from "./heartbeat/renewer.ts"

export interface Lease extends Loop {
  /** The id under which to claim now. Between two leases it is one that nothing can be claimed under. */
  readonly id: () => string
  readonly open: () => Promise<void>
  /** Gives the lease up. Refused by the database while runs are held under it. */
  readonly retire: () => Promise<void>
  /** Gives signs of life, and renews from a thread, until the signal aborts. Runs beside the loop. */
  readonly beat: (signal: AbortSignal) => Promise<void>
  /** Something with this timeout is about to run, and may block the event loop for as long. */
  readonly mayTake: (timeoutMs: number) => void
  /** What is left of the lease, counted from when its last renewal was sent. At zero others may have taken it. */
  readonly remainingMs: () => number
  /** For how long the database has answered without interruption. */
  readonly reachableForMs: () => number
}

export interface LeaseParts {
  readonly runtime: Runtime
  readonly pools: readonly string[]
  /** The jobs that this process has handlers for. */
  readonly jobs: readonly string[]
  readonly version: string | null
  readonly leaseMs: number
  readonly renewEveryMs: number
  /** The longest timeout of what runs now: for so long the event loop may be blocked. Null when there is none. */
  readonly longestTimeoutMs: () => number | null
  /** Nothing that was claimed under the lease is ours any more. */
  readonly onLost: (lease: string, because: LossReason) => void
  /** The event loop was blocked for longer than a lease. */
  readonly onBlocked: (blocked: { lease: string; forMs: number; renewed: boolean }) => void
  /** The thread has died or does not get through to the database; the main loop renews meanwhile. */
  readonly onHeartbeatFailure: (error: unknown, failures: number) => void
}

/** The lease under which this process works. */
interface Held {
  readonly lease: string
  readonly board: Board
  /** When the main loop last sent a renewal that succeeded. */
  renewedAtMs: number
  /** The server that holds it, if that is known. */
  server: string | null
}

/** A stop does not wait long for a database that is away; the lease then expires by itself. */
const RETIRE_MS = 5_000

export function createLease(parts: LeaseParts): Lease {
  const { runtime, pools, jobs, version, leaseMs, renewEveryMs, onLost, onBlocked } = parts
  const { database, facts } = runtime
  const times = { leaseMs, renewEveryMs }
  const everyMs = pulseEveryMs(renewEveryMs)
  const bell = createBell(runtime)
  const renewer = createRenewer(runtime, times)
  const inTouch = createInTouch(leaseMs)
  const heartbeat = createHeartbeat({
    runtime,
    times,
    onMessage: hearThread,
    onFailure: parts.onHeartbeatFailure,
  })
  let id = runtime.newId()
  let held: Held | undefined
  /** Whether others may judge by looking at this host whether this process is dead. */
  let isProvable = true
  let isThreadFailing = false
  /** What the thread was last told. */
  let maxBlockMs = 0

  /** Each try under a new id: an earlier one whose answer was lost may be there. */
  async function open(): Promise<void> {
    const lease = runtime.newId()
    id = lease
    const renewedAtMs = runtime.monotonicMs()
    const mark = (isProvable && runtime.processes?.self) || { home: null, born: null }
    await database.run(
      registerWorker,
      { lease, hostname: facts.hostname, pid: facts.pid, ...mark, pools, jobs, version, leaseMs },
      // One that comes later than it lasts is of no use.
      { connection: "vital", deadlineMs: Math.min(leaseMs, DEFAULTS.deadlineMs) },
    )
    inTouch.reached(renewedAtMs)
    held = { lease, board: createBoard(), renewedAtMs, server: await renewer.server() }
    pulse()
    heartbeat.hold(lease, held.board)
  }

  async function renewHere(): Promise<void> {
    const lease = held?.lease
    if (lease !== undefined) hear(await renewer.renew(lease))
    if (lease !== undefined && lease === held?.lease) {
      hear({ kind: "server", lease, server: await renewer.server() })
    }
    if (held === undefined) await open()
  }

  /** What was found out about a lease, here or by the thread. About an earlier one it is old news. */
  function hear(said: Exclude<FromThread, { kind: "failed" }>): void {
    if (held === undefined || said.lease !== held.lease) return
    if (said.kind === "lost") {
      lose("dead")
    } else if (said.kind === "renewed") {
      inTouch.reached(said.sentAtMs)
      held.renewedAtMs = Math.max(held.renewedAtMs, said.sentAtMs)
    } else if (said.server !== null) {
      const before = held.server
      held.server = said.server
      if (before !== null && before !== said.server) lose("server-changed")
    }
  }

  function hearThread(said: FromThread): void {
    if (said.kind === "failed") {
      isThreadFailing = true
      // The first says that something was interrupted. For the others the main loop, which tries now, speaks itself:
      // perhaps only the thread does not get through.
      if (said.failures === 1) {
        inTouch.failed(said.atMs)
        parts.onHeartbeatFailure(new Error(said.message), said.failures)
      }
      bell.ring()
      return
    }
    if (said.kind === "renewed") isThreadFailing = false
    hear(said)
    if (held === undefined) bell.ring()
  }

  function lose(because: LossReason): void {
    if (held === undefined) return
    const { lease } = held
    held = undefined
    // Taken for dead, perhaps by one who looks at a copy of this machine, and would do so again and again.
    if (because === "dead") isProvable = false
    // Unknown to the database, so that nothing can be claimed until there is a new one.
    id = runtime.newId()
    heartbeat.drop()
    onLost(lease, because)
  }

  function pulse(): void {
    maxBlockMs = maxBlockOf(leaseMs, parts.longestTimeoutMs())
    held?.board.pulse(runtime.monotonicMs(), maxBlockMs)
  }

  /** Between two pulses it can only grow: what has ended meanwhile is found out by the next. */
  function mayTake(timeoutMs: number): void {
    const longerMs = maxBlockOf(leaseMs, timeoutMs)
    if (longerMs <= maxBlockMs) return
    maxBlockMs = longerMs
    held?.board.pulse(runtime.monotonicMs(), maxBlockMs)
  }

  function remainingMs(): number {
    if (held === undefined || held.board.isLost()) return 0
    const renewedAtMs = Math.max(held.renewedAtMs, held.board.renewedAtMs())
    return Math.max(0, renewedAtMs + leaseMs - runtime.monotonicMs())
  }

  /** Gives a sign of life again and again, and notices what only time tells: a blocked loop and the end of the lease. */
  async function watch(signal: AbortSignal): Promise<void> {
    for (let dueMs = runtime.monotonicMs(); !signal.aborted; ) {
      const lateMs = runtime.monotonicMs() - dueMs
      if (held !== undefined && lateMs > leaseMs) {
        onBlocked({ lease: held.lease, forMs: lateMs, renewed: remainingMs() > 0 })
      }
      pulse()
      checkDeadline(lateMs)
      const restMs = Math.min(everyMs, remainingMs() || everyMs)
      dueMs = runtime.monotonicMs() + restMs
      await runtime.sleep(restMs, signal)
    }
  }

  function checkDeadline(lateMs: number): void {
    // Where there is one process, nobody can have taken anything.
    if (held === undefined || !database.abilities.processes) return
    const verdict = judgeLease({ remainingMs: remainingMs(), lateMs, everyMs })
    if (verdict === "lost") lose(held.board.isLost() ? "dead" : "expired")
    if (verdict !== "keep") bell.ring()
  }

  return {
    name: "lease",
    bell,
    // After an outage nothing is more urgent than saying that we are still here.
    failureRestMs: renewEveryMs,
    tick: async () => {
      const nowMs = runtime.monotonicMs()
      const renewedAtMs = held?.board.renewedAtMs() ?? Number.NEGATIVE_INFINITY
      const restMs = spareMs({ nowMs, renewedAtMs, renewEveryMs, isFailing: isThreadFailing })
      if (restMs > 0) return restMs
      try {
        await renewHere()
      } catch (error) {
        inTouch.failed(runtime.monotonicMs())
        throw error
      }
      return renewEveryMs
    },
    id: () => id,
    open,
    retire: async () => {
      if (held === undefined) return
      await database.run(retireWorker, { lease: held.lease }, { connection: "vital", deadlineMs: RETIRE_MS })
    },
    beat: async (signal) => {
      await Promise.all([watch(signal), heartbeat.run(signal)])
    },
    mayTake,
    remainingMs,
    reachableForMs: () => inTouch.forMs(runtime.monotonicMs()),
  }
}
