/**
 * The lease of this process: one row that says that the process is alive, renewed from time to time.
 *
 * A thread renews it, so that a busy event loop does not lose it. If there is no thread, or it cannot reach the
 * database, the main loop renews. Other processes may take over a lease that is not renewed in time. Then everything
 * held under it is lost, and the process goes on under a new lease. It never revives the old one.
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
  /** The id to claim under. Between two leases it is an id that no claim succeeds under. */
  readonly id: () => string
  readonly open: () => Promise<void>
  /** Gives the lease up. The database refuses this while runs are held under it. */
  readonly retire: () => Promise<void>
  /** Gives signs of life and renews from a thread, until the signal aborts. The loop of the lease does the rest. */
  readonly beat: (signal: AbortSignal) => Promise<void>
  /** A handler with this timeout is about to run, and may block the event loop for as long. */
  readonly mayTake: (timeoutMs: number) => void
  /**
   * The time left, counted from when the last renewal was sent. At zero, other processes may have taken the lease over.
   */
  readonly remainingMs: () => number
  /** How long the database has answered without interruption. */
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
  /** The longest timeout of the running handlers: the event loop may be blocked for as long. Null if none has one. */
  readonly longestTimeoutMs: () => number | null
  /** Runs that were claimed under this lease no longer belong to this process. */
  readonly onLost: (lease: string, because: LossReason) => void
  /** The event loop was blocked for longer than a lease. */
  readonly onBlocked: (blocked: { lease: string; forMs: number; renewed: boolean }) => void
  /** The thread has died or cannot reach the database. The main loop renews meanwhile. */
  readonly onHeartbeatFailure: (error: unknown, failures: number) => void
}

/** The lease under which this process works. */
interface HeldLease {
  readonly lease: string
  readonly board: Board
  /** When the main loop last sent a successful renewal. */
  renewedAtMs: number
  /** The server that holds the lease, if it is known. */
  server: string | null
}

/** A stop does not wait longer for an absent database. The lease then expires by itself. */
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
  let held: HeldLease | undefined
  /** May other processes of this host prove that this process is dead? */
  let isProvable = true
  let isThreadFailing = false
  /** The value that the thread was last given. */
  let maxBlockMs = 0

  /** Each try uses a new id, because an earlier try may have taken effect. */
  async function open(): Promise<void> {
    const lease = runtime.newId()
    id = lease
    const renewedAtMs = runtime.monotonicMs()
    const mark = (isProvable && runtime.processes?.self) || { home: null, born: null }
    await database.run(
      registerWorker,
      { lease, hostname: facts.hostname, pid: facts.pid, ...mark, pools, jobs, version, leaseMs },
      // A lease that is written after it would have expired is useless.
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

  /** News about a lease, from here or from the thread. News about an earlier lease is ignored. */
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
      // The first failure marks an interruption. The main loop, which tries now, reports later ones itself: perhaps
      // only the thread cannot reach the database.
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
    // Another process took this one for dead, perhaps on a copy of this machine, and would do so again.
    if (because === "dead") isProvable = false
    // No claim succeeds under an id that the database does not know.
    id = runtime.newId()
    heartbeat.drop()
    onLost(lease, because)
  }

  function pulse(): void {
    maxBlockMs = maxBlockOf(leaseMs, parts.longestTimeoutMs())
    held?.board.pulse(runtime.monotonicMs(), maxBlockMs)
  }

  /** Between two pulses it only grows. The next pulse finds out which handlers have returned. */
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

  /** Gives signs of life, and notices a blocked event loop and the end of the lease. */
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
    // Without other processes, the lease cannot be taken over.
    if (held === undefined || !database.abilities.processes) return
    const verdict = judgeLease({ remainingMs: remainingMs(), lateMs, everyMs })
    if (verdict === "lost") lose(held.board.isLost() ? "dead" : "expired")
    if (verdict !== "keep") bell.ring()
  }

  return {
    name: "lease",
    bell,
    // After an outage, renewing the lease is the most urgent work.
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
