/**
 * The stock of a pool: runs that are claimed and wait for a free slot.
 *
 * Runs start in slices of a hundred, so that timers and answers of the database get their turn in between. A run that
 * finds no slot in time goes back, and so does one whose lease is over: another process may have a slot for it.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Executor } from "../attempts/executor.ts"
import type { Lease } from "../process/lease.ts"
import type { ClaimedRun } from "./claimed-run.ts"

export interface Stock {
  readonly size: () => number
  readonly has: (run: string) => boolean
  /** Adds the runs that are not solo behind those in stock, in this order, and starts what it can. */
  readonly put: (runs: readonly ClaimedRun[]) => void
  /** Starts runs in free slots. */
  readonly start: () => void
  /** Has a slice begun whose end will start more? */
  readonly isStarting: () => boolean
  /** Keeps these slots free until the claim under way has shown whether it brings solo runs for them. */
  readonly promise: (slots: number) => void
  readonly giveBack: (run: string) => void
  /** Gives back runs that have waited for too long, or whose lease is over. */
  readonly giveBackOld: () => void
  /** `restMs`, or less if a run in stock will have waited for too long before. */
  readonly restMs: (restMs: number) => number
  /** Gives back everything, now and later, and starts nothing more. */
  readonly close: () => void
}

export interface StockParts {
  readonly runtime: Runtime
  readonly executor: Executor
  readonly lease: Lease
  /** Slots to keep free for runs that cannot be claimed ahead. */
  readonly keptForSolos: () => number
  readonly onSliceEnd: () => void
}

/** Handlers that start in a row. */
const SLICE = 100

export function createStock({ runtime, executor, lease, keptForSolos, onSliceEnd }: StockParts): Stock {
  const { monotonicMs } = runtime
  /** The last one starts first. */
  let runs: ClaimedRun[] = []
  /** How many handlers the current slice has started. */
  let sliced = 0
  let promised = 0
  let isClosed = false

  function start(): void {
    if (isClosed || runs.length === 0) return
    const kept = Math.max(keptForSolos(), promised)
    let most = Math.min(SLICE - sliced, executor.free() - kept, executor.room())
    // Asked before each start: a handler that blocks the event loop uses up the lease of the runs behind it.
    for (; most > 0 && executor.isOpen(); most -= 1) {
      const run = runs.pop()
      if (!run) break
      if (sliced === 0) runtime.soon(endSlice)
      sliced += 1
      executor.begin(run)
    }
  }

  function endSlice(): void {
    sliced = 0
    start()
    onSliceEnd()
  }

  function giveBackWhere(isUnwanted: (run: ClaimedRun) => boolean): void {
    for (const run of runs) if (isUnwanted(run)) executor.giveBack(run)
    runs = runs.filter((run) => !isUnwanted(run))
  }

  return {
    size: () => runs.length,
    has: (id) => runs.some((run) => run.id === id),
    put: (more) => {
      runs = [...more.filter(({ solo }) => !solo).reverse(), ...runs]
      if (isClosed) giveBackWhere(() => true)
      start()
    },
    start,
    isStarting: () => sliced > 0,
    promise: (slots) => {
      promised = slots
    },
    giveBack: (id) => giveBackWhere((run) => run.id === id),
    giveBackOld: () => {
      const sinceMs = monotonicMs() - DEFAULTS.prefetchAgeMs
      const oldest = runs.at(-1)
      if (!oldest || (oldest.claimedAtMs > sinceMs && oldest.lease === lease.id())) return
      giveBackWhere((run) => run.claimedAtMs <= sinceMs || run.lease !== lease.id())
    },
    restMs: (restMs) => {
      const oldest = runs.at(-1)
      if (!oldest) return restMs
      return Math.max(0, Math.min(restMs, oldest.claimedAtMs + DEFAULTS.prefetchAgeMs - monotonicMs()))
    },
    close: () => {
      isClosed = true
      giveBackWhere(() => true)
    },
  }
}
