/**
 * One pool of this process: claims runs for its slots, and some ahead.
 *
 * The loop is in one of three modes.
 * - open: it claims and starts runs.
 * - held up: nothing may start, because too many results are unwritten or the lease is nearly over. The loop claims
 *   nothing and looks again soon. Written results ring the bell earlier.
 * - closed: the process stops. Everything in stock goes back, and so does what a claim under way still brings.
 *
 * A tick of an open loop does these things in order:
 * 1. It gives back what waited in stock for too long, and starts what it can.
 * 2. It claims, unless the stock is more than half full (`judgeClaim`). Runs are claimed ahead as fast as the pool ends
 *    them. Solo runs (suspects, and runs under limits) are claimed only for slots that are free.
 * 3. It looks for runs that no wake-up announced, if that is due, and claims them.
 * 4. It begins a sweep of what claims have passed, if that is due. A sweep may take minutes and runs beside the loop.
 * 5. It rests (`judgeTick`): not at all while runs may be ready, otherwise until the next poll.
 *
 * The bell ends a rest: a wake-up, a free slot when the stock is low, or written results. `queue` says what the pool
 * knows of its queue. While the queue is `quiet`, a free slot rings nothing, and an enqueue may hand its runs over.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { AnyJob } from "../../job/define.ts"
import {
  createPace,
  isLow,
  judgeClaim,
  judgeTick,
  type PoolView,
  pollRestMs,
  QUEUE_STATES,
  type QueueEvent,
  type QueueState,
  slotsForSolos,
} from "../../queue/claim-policy.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { cancelledReason, replaceReason } from "../attempts/abort-reasons.ts"
import type { RunningAttempt } from "../attempts/attempt.ts"
import type { Executor, ExecutorParts } from "../attempts/executor.ts"
import type { By } from "../by.ts"
import { createBackgroundTask, createBell, type Loop } from "../loop.ts"
import type { Lease } from "../process/lease.ts"
import type { ClaimLedger } from "./claim-ledger.ts"
import type { ClaimedRun } from "./claimed-run.ts"
import type { Claimer, ClaimRequest } from "./claimer.ts"
import type { ReadyLane } from "./lane.ts"
import { createStock } from "./stock.ts"

export interface PoolLoop extends Loop {
  readonly pool: string
  /** Runs became ready in this lane. `undefined`: a wake-up may have been missed. */
  readonly wake: (lane: ReadyLane | undefined) => void
  /** Slots for runs that are about to be enqueued, if all of them may start without the queue. */
  readonly reserve: (job: string, count: number) => Reservation | undefined
  /** Results have been written, so that more runs may start. */
  readonly written: () => void
  /** The attempts whose handlers have not returned. */
  readonly running: () => readonly RunningAttempt[]
  /** Are handlers running, or about to start? */
  readonly isBusy: () => boolean
  /** How many runs are claimed and not started. */
  readonly inStock: () => number
  /** Resolves when no sweep is under way. */
  readonly swept: () => Promise<void>
  /** Records how far the claims have come, for processes that start later. */
  readonly recordLowWater: () => Promise<void>
  /** Resolves when every run in stock that can start has started. */
  readonly begun: () => Promise<void>
  /** Does this pool hold the run, started or not? */
  readonly has: (run: string) => boolean
  /** Ends a run that was cancelled, if this pool holds it. A replaced run has time to end by itself. */
  readonly cancel: (
    run: string,
    how?: { readonly isReplaced?: boolean; readonly by?: By | undefined },
  ) => void
  /** Gives back what is claimed and not started, and starts nothing more. */
  readonly close: () => void
  /** Resolves when no handler runs. */
  readonly handled: () => Promise<void>
  /** Resolves when every outcome so far is written or lost. Handlers that overran may still run. */
  readonly settled: () => Promise<void>
}

/** Slots that are kept for runs that are being enqueued. */
export interface Reservation {
  readonly lease: string
  readonly claim: bigint
  /** The runs were written as claimed. They start in this order. */
  readonly start: (runs: readonly ClaimedRun[]) => void
  /** The runs were not written as claimed, or the answer was lost. The slots are free for other runs. */
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

interface ClaimResult {
  readonly count: number
  /** More solo runs may be ready than there were slots for. */
  readonly mayLeaveSolos: boolean
}

const NOTHING: ClaimResult = { count: 0, mayLeaveSolos: false }

/** However busy the pool is, it keeps a slot free this often for runs that cannot be claimed ahead. */
const SOLO_EVERY_MS = 500
/** A pool that is held up is called when it may go on. This rest is for a call that does not come. */
const HELD_UP_REST_MS = 50

export function createPoolLoop(parts: PoolLoopParts): PoolLoop {
  const { runtime, pool, jobs, lease, claims, claimer } = parts
  const { monotonicMs } = runtime
  const bell = createBell(runtime)
  const pace = createPace(monotonicMs)
  const sweeps = createBackgroundTask(bell.ring)
  const recording = createBackgroundTask(bell.ring)
  const executor = parts.createExecutor({ onFree, onLeft })
  const { free } = executor
  const stock = createStock({ runtime, executor, lease, keptForSolos, onSliceEnd: askForMore })
  let mode: "open" | "held up" | "closed" = "open"
  let queue: QueueState = "unknown"
  /** Counts wake-ups, so that a tick sees whether one came in meanwhile. */
  let wakes = 0
  let emptyTicks = 0
  let soloTurnAtMs = 0
  /** A claim has left out runs whose earlier handlers are still running here. */
  let hasLeftOut = false
  let ticking: Promise<number> | undefined

  async function tick(): Promise<number> {
    sweeps.tell()
    recording.tell()
    stock.giveBackOld()
    stock.start()
    if (mode !== "closed") mode = executor.isOpen() ? "open" : "held up"
    if (mode !== "open") return HELD_UP_REST_MS
    await claimer.resolveDoubts()
    await claimer.forgetEnded()
    if (claimer.isLowWaterDue()) recording.begin(claimer.recordLowWater)
    const view = look()
    const size = judgeClaim(view)
    if (size === undefined) return stock.restMs(DEFAULTS.idlePollMs)
    if (view.isSoloTurn && view.free > 0) soloTurnAtMs = monotonicMs() + SOLO_EVERY_MS
    const [wakesBefore, leaseBefore] = [wakes, lease.id()]
    const { isShort, count, found, mayLeaveSolos } = await claimAndLook(size.limit, size.solos)
    if (claimer.isSweepDue(isShort && found === 0)) sweep(size.limit - count - found)
    const { isExhausted, next } = judgeTick({
      isShort,
      found,
      wasWoken: wakes !== wakesBefore,
      lease: lease.id() !== leaseBefore ? "replaced" : lease.remainingMs() > 0 ? "live" : "expired",
      mayLeaveSolos,
      slotsForSolos: slotsForSolos(look()),
    })
    if (isExhausted) learn("exhausted")
    emptyTicks = count + found === 0 ? emptyTicks + 1 : 0
    return next === "claim" ? 0 : stock.restMs(pollRestMs(emptyTicks))
  }

  /** One claim, and what follows it. The claimed runs have started by then, so nothing delays them. */
  async function claimAndLook(limit: number, solos: number) {
    const knewOfSolos = claimer.hasSolos()
    let last = await claim(claimer.claim, limit, solos)
    const { count } = last
    const isShort = count < limit
    let found = 0
    if (claimer.isSearchDue(isShort)) {
      last = await claim(claimer.search, isShort ? limit - count : 0, slotsForSolos(look()))
      found += last.count
    }
    // The first claim kept no slots for solo runs, because none were known of.
    if (!knewOfSolos && claimer.hasSolos()) {
      last = await claim(claimer.claim, free(), slotsForSolos(look()))
      found += last.count
    }
    return { isShort, count, found, mayLeaveSolos: last.mayLeaveSolos }
  }

  function look(): PoolView {
    return {
      free: free(),
      stocked: stock.size(),
      target: pace.target(),
      hasSolos: claimer.hasSolos(),
      isSoloTurn: isSoloTurn(),
    }
  }

  function learn(event: QueueEvent): void {
    queue = QUEUE_STATES[queue][event]
  }

  /** Claims and starts. Until the answer is there, `solos` slots are kept free. */
  async function claim(take: Claimer["claim"], limit: number, solos: number): Promise<ClaimResult> {
    if (mode === "closed") return NOTHING
    stock.promise(solos)
    // Not earlier: a run from the stock could take a slot that a solo run was claimed for.
    return bring(take, { limit, free: solos }, () => stock.promise(0))
  }

  /** Keeps no slots: what finds none goes back. One run of each kind is enough to show that there are more. */
  function sweep(wanted: number): void {
    if (mode === "closed") return
    const limit = Math.max(1, wanted)
    const solos = claimer.hasSolos() ? Math.max(1, slotsForSolos(look())) : 0
    sweeps.begin(async () => {
      const { count } = await bring(claimer.sweep, { limit, free: solos })
      if (count > 0) emptyTicks = 0
      // More runs may be behind these, which a claim under way has not seen. Or a wake-up was missed since.
      if (count > 0 || claimer.isSweepDue(false)) callAgain()
    })
  }

  function callAgain(): void {
    wakes += 1
    bell.ring()
  }

  /** `onTaken` is called when the claim is answered, before any of its runs starts. */
  async function bring(
    take: Claimer["claim"],
    { limit, free: solos }: Pick<ClaimRequest, "limit" | "free">,
    onTaken = () => {},
  ): Promise<ClaimResult> {
    try {
      const except = executor.lingering()
      if (except.length > 0) hasLeftOut = true
      const { runs, isEmpty } = await take({ limit, free: solos, except })
      await runtime.crashPoint("claim.taken")
      onTaken()
      if (isEmpty) learn("swept")
      const count = runs.length
      const soloCount = runs.filter(({ solo }) => solo).length
      // Also after a short claim: it took as many solo runs as it had slots for.
      const mayLeaveSolos = claimer.hasSolos() && soloCount >= Math.min(limit, solos)
      // Before they start: a run that ends at once asks for more, unless the queue is quiet.
      if (count >= limit || mayLeaveSolos) learn("filled")
      start(runs)
      return { count, mayLeaveSolos }
    } catch (error) {
      onTaken()
      learn("failed")
      stock.start()
      if (isClosed()) return NOTHING
      throw error
    }
  }

  /** The mode may change during any wait. */
  function isClosed(): boolean {
    return mode === "closed"
  }

  /** Solo runs were claimed for free slots and start at once. A solo run that finds no slot goes back. */
  function start(runs: readonly ClaimedRun[]): void {
    for (const run of runs) {
      if (!run.solo) continue
      if (!isClosed() && free() > 0 && executor.isOpen()) executor.begin(run)
      else executor.giveBack(run)
    }
    stock.put(runs)
  }

  function keptForSolos(): number {
    return isSoloTurn() && claimer.hasSolos() ? 1 : 0
  }

  function isSoloTurn(): boolean {
    return monotonicMs() >= soloTurnAtMs
  }

  function onFree(): void {
    pace.ended()
    // The end of the slice starts more.
    if (stock.isStarting()) return
    stock.start()
    askForMore()
  }

  /** A run that claims have left out may be claimed again, and may be anywhere in the queue. */
  function onLeft(): void {
    if (!hasLeftOut) return
    hasLeftOut = false
    wake(undefined)
  }

  /** Rings if a slot is free for a run in stock, or if the stock is low and runs may be ready. */
  function askForMore(): void {
    const stocked = stock.size()
    const isStuck = stocked > 0 && free() > 0
    const wantsMore = isLow(stocked, pace.target()) || (isSoloTurn() && claimer.hasSolos())
    if (isStuck || (queue !== "quiet" && wantsMore)) bell.ring()
  }

  function wake(lane: ReadyLane | undefined): void {
    learn(lane ? "announced" : "missed")
    if (!lane || lane.solo) soloTurnAtMs = 0
    claimer.wake(lane)
    callAgain()
  }

  function reserve(job: string, count: number): Reservation | undefined {
    const isFree = queue === "quiet" && stock.size() === 0 && free() - keptForSolos() >= count
    if (!isFree || !jobs.has(job) || !executor.isOpen() || executor.room() < count) return undefined
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
        // A pool that is at work polls more often.
        emptyTicks = 0
        start(runs)
        askForMore()
      },
      cancel: () => {
        if (kept === 0) return
        letGo()
        stock.start()
        // If the answer was lost, the next tick finds out whether the runs were written as claimed.
        bell.ring()
      },
    }
  }

  return {
    name: `pool ${pool}`,
    bell,
    pool,
    // One tick at a time, also in tests: two would count the same free slots.
    tick: () => {
      ticking ??= tick().finally(() => {
        ticking = undefined
      })
      return ticking
    },
    wake,
    reserve,
    written: () => {
      if (mode === "held up" || stock.size() > 0 || claims.hasManyEnded()) bell.ring()
    },
    running: executor.running,
    isBusy: () => executor.isBusy() || (stock.isStarting() && stock.size() > 0),
    inStock: stock.size,
    swept: sweeps.ended,
    recordLowWater: claimer.recordLowWater,
    begun: async () => {
      while (stock.isStarting()) await new Promise<void>((resolve) => runtime.soon(resolve))
    },
    has: (id) => executor.isRunning(id) || stock.has(id),
    cancel: (id, { isReplaced = false, by } = {}) => {
      const cancelReason = (run: string) => cancelledReason(run, by)
      executor.abort(id, isReplaced ? replaceReason(id) : cancelReason(id))
      // The database writes its end as cancelled, whatever outcome is sent.
      stock.giveBack(id)
    },
    close: () => {
      mode = "closed"
      claimer.close()
      executor.close()
      stock.close()
    },
    handled: () => sweeps.ended().then(executor.handled),
    settled: () => sweeps.ended().then(executor.settled),
  }
}
