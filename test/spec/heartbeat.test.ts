/** The heartbeat thread that renews a process's lease, seen from both sides. */
import { expect, it, onTestFinished, vi } from "vitest"
import { createBeat } from "../../src/engine/process/heartbeat/beat.ts"
import {
  type Board,
  createBoard,
  type FromThread,
  openBoard,
  type ToThread,
} from "../../src/engine/process/heartbeat/board.ts"
import type { LeaseParts } from "../../src/engine/process/lease.ts"
import type { ThreadOptions } from "../../src/runtime/host.ts"
import { describeEngines, type Engine, SERVERS } from "../support/engines.ts"
import { LEASE_MS, leaseOn, meddle, RENEW_EVERY_MS, takeAllLeases, virtualTime } from "../support/lease.ts"
import { openLease } from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"

const { signal } = new AbortController()

/** A process with a thread that does what the test says. */
async function withThread(engine: Engine, parts: Partial<LeaseParts> = {}) {
  const time = virtualTime()
  const runtime = time.clockOf(await engine.migrated())
  const renewals = meddle(runtime.database, "workers/renew", () => undefined)
  const got: ToThread[] = []
  let options: ThreadOptions | undefined
  const startThread = (given: ThreadOptions) => {
    options = given
    const send = (message: unknown) => {
      got.push(message as ToThread)
      if (got.at(-1)?.kind === "stop") given.onEnd(undefined)
    }
    return { send, kill: () => {} }
  }
  const test = leaseOn({ ...runtime, database: renewals.database, startThread }, parts)
  const stopping = new AbortController()
  await test.lease.open()
  const beating = test.lease.beat(stopping.signal)
  onTestFinished(async () => {
    stopping.abort()
    await beating
  })
  const held = () => got.findLast((message) => message.kind === "hold")
  return {
    ...test,
    time,
    runtime,
    got,
    held,
    renewals: renewals.calls,
    say: (message: FromThread) => options?.onMessage(message),
    board: (): Board => openBoard(held()?.memory ?? new SharedArrayBuffer(0)),
  }
}

describeEngines(
  "a process with a heartbeat thread",
  (engine) => {
    it("leaves renewals to the thread, and counts them, whether it heard of each or not", async () => {
      const { lease, held, time, board, renewals } = await withThread(engine)
      expect(held()).toMatchObject({ lease: lease.id() })
      time.pass(200)
      board().renewed(time.nowMs())
      expect(lease.remainingMs()).toBe(LEASE_MS)
      expect(await lease.tick(signal)).toBe(1.5 * RENEW_EVERY_MS)
      expect(renewals()).toBe(0)
    })

    it("renews by itself when the thread is late, and when the thread does not get through", async () => {
      const { lease, time, board, renewals, say, failures } = await withThread(engine)
      board().renewed(time.nowMs())
      time.pass(1.5 * RENEW_EVERY_MS)
      expect(await lease.tick(signal)).toBe(RENEW_EVERY_MS)
      expect(renewals()).toBe(1)
      board().renewed(time.nowMs())
      say({ kind: "failed", message: "no connection is left", failures: 1, atMs: time.nowMs() })
      await lease.tick(signal)
      expect(renewals()).toBe(2)
      say({ kind: "failed", message: "no connection is left", failures: 2, atMs: time.nowMs() })
      say({ kind: "renewed", lease: lease.id(), sentAtMs: time.nowMs() })
      expect(await lease.tick(signal)).toBe(1.5 * RENEW_EVERY_MS)
      expect(renewals()).toBe(2)
      // Reported once: it is the same trouble.
      expect(failures).toEqual([new Error("no connection is left")])
    })

    it("lets the thread act for a silent main loop for three leases, or the longest timeout plus grace", async () => {
      let longestMs: number | null = null
      const { lease, board } = await withThread(engine, { longestTimeoutMs: () => longestMs })
      const maxBlock = () => board().lastPulse().maxBlockMs
      expect(maxBlock()).toBe(3 * LEASE_MS)
      lease.mayTake(10_000)
      expect(maxBlock()).toBe(40_000)
      lease.mayTake(5_000)
      expect(maxBlock()).toBe(40_000)
      // The next sign of life carries the new value.
      longestMs = 5_000
      await vi.waitUntil(() => maxBlock() === 35_000, { timeout: 10_000 })
      longestMs = null
      await vi.waitUntil(() => maxBlock() === 3 * LEASE_MS, { timeout: 10_000 })
    })

    it("counts as in touch while the thread reaches the database, and loses touch at a first failure", async () => {
      const { lease, time, say } = await withThread(engine)
      time.pass(800)
      say({ kind: "renewed", lease: lease.id(), sentAtMs: time.nowMs() })
      time.pass(800)
      expect(lease.reachableForMs()).toBe(1_600)
      say({ kind: "failed", message: "gone", failures: 1, atMs: time.nowMs() })
      expect(lease.reachableForMs()).toBe(0)
      await lease.tick(signal)
      time.pass(100)
      say({ kind: "failed", message: "gone", failures: 2, atMs: time.nowMs() })
      expect(lease.reachableForMs()).toBe(100)
    })

    it("gives up a lease that the thread heard is dead, and has it renew the next", async () => {
      const { lease, lost, got, held, board, say } = await withThread(engine)
      const first = lease.id()
      board().lost()
      expect(lease.remainingMs()).toBe(0)
      say({ kind: "lost", lease: first })
      expect(lost).toEqual([{ lease: first, because: "dead" }])
      expect(got.at(-1)).toEqual({ kind: "drop" })
      await lease.tick(signal)
      expect(held()).toMatchObject({ lease: lease.id() })
      // Late news about the old lease.
      say({ kind: "lost", lease: first })
      say({ kind: "server", lease: first, server: "elsewhere" })
      expect(lost).toHaveLength(1)
      expect(lease.remainingMs()).toBe(LEASE_MS)
    })
  },
  SERVERS,
)

/** The loop of the thread, inside the test's process. */
async function beatOn(engine: Engine) {
  const time = virtualTime()
  const printed: string[] = []
  const told: FromThread[] = []
  const runtime = time.clockOf(await engine.migrated())
  const lease = await openLease(runtime.database, LEASE_MS)
  const board = createBoard()
  const beat = createBeat({
    runtime: { ...runtime, print: (_, line) => printed.push(line) },
    times: { leaseMs: LEASE_MS, renewEveryMs: RENEW_EVERY_MS },
    tell: (message) => told.push(message),
  })
  return { time, runtime, printed, told, lease, board, beat }
}

describeEngines(
  "the heartbeat thread",
  (engine) => {
    it("renews the lease it holds, and reports when it sent the renewal", async () => {
      const { time, runtime, told, lease, board, beat } = await beatOn(engine)
      const expiry = async () => (await rowsOf(runtime.database, "select expires_at from {workers}"))[0]
      const before = await expiry()
      await beat.tick(signal)
      expect(told).toEqual([])
      board.pulse(time.nowMs(), 3 * LEASE_MS)
      beat.hold(lease, board)
      expect(await beat.tick(signal)).toBe(RENEW_EVERY_MS)
      expect(await expiry()).not.toEqual(before)
      expect(board.renewedAtMs()).toBe(time.nowMs())
      expect(told).toEqual([
        { kind: "renewed", lease, sentAtMs: time.nowMs() },
        { kind: "server", lease, server: expect.stringMatching(/^\d+\/0000000\d\b/) },
      ])
    })

    it("falls silent with the main loop, reports that once, and goes on with it", async () => {
      const { time, printed, told, lease, board, beat } = await beatOn(engine)
      board.pulse(time.nowMs(), 3 * LEASE_MS)
      beat.hold(lease, board)
      time.pass(3 * LEASE_MS)
      await beat.tick(signal)
      expect(told).toHaveLength(2)
      time.pass(1)
      await beat.tick(signal)
      await beat.tick(signal)
      expect(told).toHaveLength(2)
      expect(printed).toEqual([expect.stringContaining("no sign for 3 s")])
      board.pulse(time.nowMs(), 3 * LEASE_MS)
      await beat.tick(signal)
      expect(told).toHaveLength(4)
      expect(printed).toHaveLength(1)
    })

    it("reports that a lease is dead, and does not renew it again", async () => {
      const { time, runtime, told, lease, board, beat } = await beatOn(engine)
      board.pulse(time.nowMs(), 3 * LEASE_MS)
      beat.hold(lease, board)
      await takeAllLeases(runtime)
      await beat.tick(signal)
      await beat.tick(signal)
      expect(board.isLost()).toBe(true)
      expect(told).toEqual([{ kind: "lost", lease }])
    })
  },
  SERVERS,
)
