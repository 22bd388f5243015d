/**
 * One pool of this process: claims runs for its slots, and some ahead.
 *
 * Runs are claimed ahead of free slots as fast as the pool has been starting them, and those that find no slot soon
 * are given back. Suspects and runs under limits (solo runs) are claimed only for slots that are free.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { AnyJob } from "../../job/define.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { type CancelledBy, cancelledReason, replaceReason } from "../attempts/abort-reasons.ts"
import type { RunningAttempt } from "../attempts/attempt.ts"
import type { Executor, ExecutorParts } from "../attempts/executor.ts"
import { createBackgroundTask } from "../background-task.ts"
import { createBell, type Loop } from "../loop.ts"
import type { Lease } from "../process/lease.ts"
import type { ClaimLedger } from "./claim-ledger.ts"
import type { ClaimedRun } from "./claimed-run.ts"
import type { Claimer, Wanted } from "./claimer.ts"
import type { ReadyLane } from "./lane.ts"
import { createPrefetch } from "./prefetch.ts"

export interface PoolLoop extends Loop {
  readonly pool: string
  /** Something became ready here; `undefined`: something may have been missed. */
  readonly wake: (lane: ReadyLane | undefined) => void
  /** Slots for runs that are just being enqueued, if all of them may be started past the queue. */
  readonly reserve: (job: string, count: number) => Reservation | undefined
  /** Ends have been written: there is room for more. */
  readonly written: () => void
  /** The attempts whose handlers have not ended. */
  readonly running: () => readonly RunningAttempt[]
  /** Whether there are any, or will be in a moment. */
  readonly isBusy: () => boolean
  /** How many runs are claimed and not started. */
  readonly inStore: () => number
  /** Resolves when no sweep is under way. */
  readonly swept: () => Promise<void>
  /** Says how far it has come, for those who start when this process has ended. */
  readonly recordLowWater: () => Promise<void>
  /** Resolves when everything in store has been started that can be. */
  readonly begun: () => Promise<void>
  /** Whether a run is here, started or not. */
  readonly has: (run: string) => boolean
  /** Ends a run that someone cancelled, if it is here. One that is replaced has time to end by itself. */
  readonly cancel: (
    run: string,
    how?: { readonly isReplaced?: boolean; readonly by?: CancelledBy | undefined },
  ) => void
  /** Gives back what is claimed and not started, and starts nothing more. */
  readonly close: () => void
  /** Resolves when no handler runs. */
  readonly handled: () => Promise<void>
  /** Resolves when every outcome so far is written or lost; handlers that overran may still go on. */
  readonly settled: () => Promise<void>
}

/** Slots that are kept for runs on their way. */
export interface Reservation {
  readonly lease: string
  readonly claim: bigint
  /** The runs were written as claimed: they start, in this order. */
  readonly start: (runs: readonly ClaimedRun[]) => void
  /** They were not, or nobody knows: the slots are for others. */
  readonly cancel: () => void
}

export interface PoolLoopParts {
  readonly runtime: Runtime
  readonly pool: string
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly lease: Lease
  readonly claims: ClaimLedger
  readonly claimer: Claimer
  /** Makes the slots of the pool. */
  readonly createExecutor: (on: Pick<ExecutorParts, "onFree" | "onLeft">) => Executor
}

/** What came of one claim. */
interface Taken {
  readonly count: number
  /** Solo runs may wait that there was no slot for. */
  readonly mayLeaveSolos: boolean
}

const NOTHING: Taken = { count: 0, mayLeaveSolos: false }

/** How many runs one claim takes at the most. */
const MOST_AT_ONCE = 1_000
/** However busy the pool is, a slot is kept free this often for runs that cannot be claimed ahead. */
const SOLO_EVERY_MS = 500
/** How many handlers are started in a row, before what has come in meanwhile is dealt with. */
const SLICE = 100
/** When nothing may be started, whoever makes that possible rings; this is for when they forget. */
const CLOSED_REST_MS = 50

export function createPoolLoop(parts: PoolLoopParts): PoolLoop {
  const { runtime, pool, jobs, lease, claims, claimer } = parts
  const { monotonicMs } = runtime
  const bell = createBell(runtime)
  const prefetch = createPrefetch(monotonicMs)
  const sweeps = createBackgroundTask(bell.ring)
  const recording = createBackgroundTask(bell.ring)
  const executor = parts.createExecutor({ onFree: goOn, onLeft })
  const { free } = executor
  /** Claimed, waiting for a slot. The last one starts first. */
  let store: ClaimedRun[] = []
  /** How many handlers have been started since what has come in meanwhile was last dealt with. */
  let sliced = 0
  let emptyClaims = 0
  let wakes = 0
  /** What claims have passed was looked through and empty, and whatever came since has been told of. */
  let isSwept = false
  /** The last claim took all that had been told of by then. */
  let isServed = false
  let soloAtMs = 0
  /** Nothing could be started when it was last looked at. */
  let isHeldUp = false
  /** Claims have left out runs whose handlers lingered. */
  let hasLeftOut = false
  /** Slots that a claim under way may bring solo runs for. */
  let promised = 0
  let closed = false
  let ticking: Promise<number> | undefined

  async function tick(): Promise<number> {
    sweeps.tell()
    recording.tell()
    giveBackOld()
    startFromStore()
    isHeldUp = !executor.isOpen()
    if (isHeldUp) return CLOSED_REST_MS
    await claimer.resolveDoubts()
    await claimer.forgetEnded()
    if (claimer.isLowWaterDue()) recording.begin(claimer.recordLowWater)
    const ahead = prefetch.target()
    const solos = slotsForSolos()
    const limit = Math.min(MOST_AT_ONCE, Math.max(free() + ahead - store.length, solos))
    // Whoever empties the store, or a slot, rings the bell.
    if (limit <= 0 || (solos <= 0 && store.length > ahead / 2)) return restWithStore(DEFAULTS.idlePollMs)
    const [heard, held] = [wakes, lease.id()]
    if (isSoloDue() && free() > 0) soloAtMs = monotonicMs() + SOLO_EVERY_MS
    const knewOfSolos = claimer.hasSolos()
    let last = await claim(claimer.claim, limit, solos)
    const { count } = last
    const isShort = count < limit
    let found = 0
    // What was found has started by now: looking for what may have been overlooked delays none of it.
    if (claimer.isSearchDue(isShort)) {
      last = await claim(claimer.search, isShort ? limit - count : 0, slotsForSolos())
      found += last.count
    }
    if (claimer.isSweepDue(isShort && found === 0)) sweep(limit - count - found)
    // Slots are kept for solo runs only where there are any, and these were not known of.
    if (!knewOfSolos && claimer.hasSolos()) {
      last = await claim(claimer.claim, free(), slotsForSolos())
      found += last.count
    }
    // Under a lease that is over nothing is found, whoever waits.
    const isLeaseLive = held === lease.id() && lease.remainingMs() > 0
    if (isShort && found === 0 && wakes === heard && isLeaseLive && !last.mayLeaveSolos) isServed = true
    emptyClaims = count + found === 0 ? emptyClaims + 1 : 0
    if (!isShort || found > 0 || wakes !== heard || held !== lease.id()) return 0
    // Those that were taken may have needed no slot, or have ended by now.
    if (last.mayLeaveSolos && slotsForSolos() > 0) return 0
    const pollMs = DEFAULTS.pollMs * 2 ** Math.max(0, emptyClaims - 1)
    return restWithStore(Math.min(DEFAULTS.idlePollMs, pollMs))
  }

  /** Claims and starts. `solos` slots are kept meanwhile for what must not be claimed ahead. */
  async function claim(take: Claimer["claim"], limit: number, solos: number): Promise<Taken> {
    if (closed) return NOTHING
    promised = solos
    // Not earlier: in between, a run from the store could be given a slot that a solo run was claimed for.
    return bring(take, { limit, free: solos }, () => {
      promised = 0
    })
  }

  /** It may take long: nothing is kept for it, and what finds no slot goes back. One of each kind shows that there are more. */
  function sweep(wanted: number): void {
    if (closed) return
    const limit = Math.max(1, wanted)
    const solos = claimer.hasSolos() ? Math.max(1, slotsForSolos()) : 0
    sweeps.begin(async () => {
      const { count } = await bring(claimer.sweep, { limit, free: solos })
      if (count > 0) emptyClaims = 0
      // A claim that is under way has not seen what is behind these, and something may have been missed since.
      if (count > 0 || claimer.isSweepDue(false)) callAgain()
    })
  }

  function callAgain(): void {
    wakes += 1
    bell.ring()
  }

  /** `onTaken` is called when it is known what comes, before any of it starts. */
  async function bring(
    take: Claimer["claim"],
    { limit, free: solos }: Pick<Wanted, "limit" | "free">,
    onTaken = () => {},
  ): Promise<Taken> {
    try {
      const except = executor.lingering()
      if (except.length > 0) hasLeftOut = true
      const { runs, isEmpty } = await take({ limit, free: solos, except })
      await runtime.crashPoint("claim.taken")
      onTaken()
      if (isEmpty) isSwept = true
      const count = runs.length
      const soloCount = runs.filter(({ solo }) => solo).length
      // However short the claim was: as many as it had slots for may have left others behind them.
      const mayLeaveSolos = claimer.hasSolos() && soloCount >= Math.min(limit, solos)
      // Before they start: one that ends at once asks for more only where somebody waits.
      if (count >= limit || mayLeaveSolos) isServed = false
      start(runs)
      return { count, mayLeaveSolos }
    } catch (error) {
      onTaken()
      isSwept = false
      startFromStore()
      if (closed) return NOTHING
      throw error
    }
  }

  /** How many slots a claim may bring solo runs for: those that the store leaves free, and now and then all of them. */
  function slotsForSolos(): number {
    if (!claimer.hasSolos()) return 0
    return Math.max(0, isSoloDue() ? free() : free() - store.length)
  }

  /** Solo runs were claimed for slots that are free, so they start at once; one that finds none goes back. */
  function start(runs: readonly ClaimedRun[]): void {
    for (const run of runs.filter(({ solo }) => solo)) {
      if (!closed && free() > 0 && executor.isOpen()) executor.begin(run)
      else executor.giveBack(run)
    }
    store = [...runs.filter(({ solo }) => !solo).reverse(), ...store]
    if (closed) giveBackWhere(() => true)
    startFromStore()
  }

  function startFromStore(): void {
    if (closed || store.length === 0) return
    const kept = keptForSolos()
    let most = Math.min(SLICE - sliced, free() - Math.max(kept, promised), executor.room())
    // Asked before each: a handler that blocks the event loop uses up the lease of those behind it.
    for (; most > 0 && executor.isOpen(); most -= 1) {
      const run = store.pop()
      if (!run) break
      if (sliced === 0) runtime.soon(endSlice)
      sliced += 1
      executor.begin(run)
    }
  }

  function endSlice(): void {
    sliced = 0
    startFromStore()
    askForMore()
  }

  function keptForSolos(): number {
    return isSoloDue() && claimer.hasSolos() ? 1 : 0
  }

  /** Whether a slot is to be kept free for runs that cannot be claimed ahead. */
  function isSoloDue(): boolean {
    return monotonicMs() >= soloAtMs
  }

  /** A slot is free. */
  function goOn(): void {
    prefetch.ended()
    // More is started as soon as this slice has ended.
    if (sliced > 0) return
    startFromStore()
    askForMore()
  }

  /** What was left out may be anywhere. Most handlers end as soon as they are told to, and nothing was. */
  function onLeft(): void {
    if (!hasLeftOut) return
    hasLeftOut = false
    wake(undefined)
  }

  /** Nobody waits in this pool, as far as anyone knows. */
  function isQuiet(): boolean {
    return isSwept && isServed
  }

  /** An empty pool is heard of when something comes into it. What is in store waits for a slot, and for nothing else. */
  function askForMore(): void {
    const isStuck = store.length > 0 && free() > 0
    const wantsMore = store.length <= prefetch.target() / 2 || (isSoloDue() && claimer.hasSolos())
    if (isStuck || (!isQuiet() && wantsMore)) bell.ring()
  }

  function wake(lane: ReadyLane | undefined): void {
    isServed = false
    if (!lane) isSwept = false
    if (!lane || lane.solo) soloAtMs = 0
    claimer.wake(lane)
    callAgain()
  }

  function giveBackWhere(isUnwanted: (run: ClaimedRun) => boolean): void {
    for (const run of store) if (isUnwanted(run)) executor.giveBack(run)
    store = store.filter((run) => !isUnwanted(run))
  }

  /** What found no slot in time may find one elsewhere; what was claimed under a lost lease is nobody's here. */
  function giveBackOld(): void {
    const sinceMs = monotonicMs() - DEFAULTS.prefetchAgeMs
    const oldest = store.at(-1)
    if (!oldest || (oldest.claimedAtMs > sinceMs && oldest.lease === lease.id())) return
    giveBackWhere((run) => run.claimedAtMs <= sinceMs || run.lease !== lease.id())
  }

  /** No longer than until the first of those in store has waited for too long. */
  function restWithStore(restMs: number): number {
    const oldest = store.at(-1)
    if (!oldest) return restMs
    return Math.max(0, Math.min(restMs, oldest.claimedAtMs + DEFAULTS.prefetchAgeMs - monotonicMs()))
  }

  return {
    name: `pool ${pool}`,
    bell,
    pool,
    // One at a time, whoever asks: two would count the same free slots.
    tick: () => {
      ticking ??= tick().finally(() => {
        ticking = undefined
      })
      return ticking
    },
    wake,
    reserve: (job, count) => {
      const hasSlots = free() - keptForSolos() >= count
      const mayPass = isQuiet() && store.length === 0 && jobs.has(job) && hasSlots && executor.isOpen()
      if (!mayPass || executor.room() < count) return undefined
      executor.keep(count)
      let kept = count
      const letGo = () => {
        executor.keep(-kept)
        kept = 0
      }
      return {
        lease: lease.id(),
        claim: runtime.randomBits(),
        start: (runs) => {
          letGo()
          const [first] = runs
          if (first) claims.open(first, runs.length)
          // A pool that has something to do is looked at more often.
          emptyClaims = 0
          start(runs)
          askForMore()
        },
        cancel: () => {
          if (kept === 0) return
          letGo()
          startFromStore()
          // They may have been written all the same, and wait for somebody who looks for that.
          bell.ring()
        },
      }
    },
    // A pool in which nobody waits has nothing to do because of that.
    written: () => {
      if (isHeldUp || store.length > 0 || claims.hasManyEnded()) bell.ring()
    },
    running: executor.running,
    isBusy: () => executor.isBusy() || (sliced > 0 && store.length > 0),
    inStore: () => store.length,
    swept: sweeps.ended,
    recordLowWater: claimer.recordLowWater,
    begun: async () => {
      while (sliced > 0) await new Promise<void>((resolve) => runtime.soon(resolve))
    },
    has: (id) => executor.isRunning(id) || store.some((run) => run.id === id),
    cancel: (id, { isReplaced = false, by } = {}) => {
      const cancelReason = (run: string) => cancelledReason(run, by)
      executor.abort(id, isReplaced ? replaceReason(id) : cancelReason(id))
      // Its end will be written as cancelled, whatever is said of it here.
      giveBackWhere((run) => run.id === id)
    },
    close: () => {
      closed = true
      claimer.close()
      executor.close()
      giveBackWhere(() => true)
    },
    handled: () => sweeps.ended().then(executor.handled),
    settled: () => sweeps.ended().then(executor.settled),
  }
}
