/**
 * Stops a process in order: no new claims, time to finish, an abort, runs go back, the lease is given up. Each step has
 * a time limit, so a database that does not answer cannot delay the stop.
 */
import type { Runtime } from "../runtime/runtime.ts"
import { createStop } from "../runtime/stop.ts"
import { stopReason } from "./attempts/abort-reasons.ts"
import type { Lease } from "./process/lease.ts"
import type { ClaimDoubts } from "./queue/claim-doubts.ts"
import type { PoolLoop } from "./queue/pool-loop.ts"

export interface ShutdownParts {
  readonly runtime: Runtime
  readonly poolLoops: readonly PoolLoop[]
  readonly lease: Lease
  readonly doubts: ClaimDoubts
  /** Claims and starts nothing more. */
  readonly close: () => void
  readonly claimLoops: readonly Promise<void>[]
  /** Write nothing about runs, so the lease is given up without waiting for them. */
  readonly upkeepLoops: readonly Promise<void>[]
  /** Ends the loop that renews the lease. */
  readonly living: AbortController
  readonly lifeLoops: readonly Promise<void>[]
  /** How long it waits for the last writes after the grace. After that the lease is left to expire. */
  readonly lastWritesMs: number
}

/** Stops, and returns how many handlers it aborted. Aborting `graceOver` ends the grace early. */
export async function shutDown(parts: ShutdownParts, graceOver: AbortController): Promise<number> {
  const { runtime, poolLoops, close, claimLoops, upkeepLoops, living, lifeLoops } = parts
  close()
  await untilAborted(graceOver.signal, Promise.all(claimLoops))
  await untilAborted(graceOver.signal, Promise.all(poolLoops.map((poolLoop) => poolLoop.handled())))
  graceOver.abort()
  const unfinished = poolLoops.flatMap((poolLoop) => poolLoop.running())
  for (const attempt of unfinished) attempt.abort(stopReason(attempt.run.id))
  const lastCall = createStop()
  void runtime.sleep(parts.lastWritesMs, lastCall.signal).then(() => lastCall.abort())
  const writes = Promise.all([...claimLoops, ...poolLoops.map((poolLoop) => poolLoop.settled())])
  const isWritten = await untilAborted(lastCall.signal, writes)
  living.abort()
  await untilAborted(lastCall.signal, Promise.all(lifeLoops))
  if (isWritten) await untilAborted(lastCall.signal, giveUp(parts))
  await untilAborted(lastCall.signal, Promise.all(upkeepLoops))
  lastCall.abort()
  return unfinished.length
}

/**
 * Also releases the runs of claims whose answers were lost. If this fails, the lease expires later and the runs are
 * reaped.
 */
async function giveUp({ doubts, lease, poolLoops }: ShutdownParts): Promise<void> {
  await doubts.resolve({ isLast: true }).catch(() => {})
  await lease.retire().catch(() => {})
  await Promise.all(poolLoops.map((poolLoop) => poolLoop.recordLowWater())).catch(() => {})
}

/** Did `work` end before the signal? */
async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  const done = work.then(() => true)
  let giveUp = () => {}
  const late = new Promise<boolean>((resolve) => {
    giveUp = () => resolve(false)
    signal.addEventListener("abort", giveUp, { once: true })
    // Work that has already ended was in time.
    if (signal.aborted) void Promise.race([done, Promise.resolve(false)]).then(resolve)
  })
  return Promise.race([done, late]).finally(() => signal.removeEventListener("abort", giveUp))
}
