/** When a pool claims, how many runs, and how long it rests. Values in, verdict out. */

import { DEFAULTS } from "../defaults.ts"

/** One claim takes no more runs than this. */
const MOST_AT_ONCE = 1_000

/** What a pool has when it decides about a claim. */
export interface PoolView {
  /** Free slots. */
  readonly free: number
  /** Runs claimed ahead, which wait for a slot. */
  readonly stocked: number
  /** How many runs to claim ahead, as fast as the pool is now. */
  readonly target: number
  /** May solo runs be ready? They are claimed only for free slots. */
  readonly hasSolos: boolean
  /** Is it time to keep a free slot for a solo run, although runs in stock wait for one? */
  readonly isSoloTurn: boolean
}

export interface ClaimSize {
  readonly limit: number
  /** Of these, at most this many solo runs. */
  readonly solos: number
}

/** The next claim, or nothing while the stock is more than half full and no slot waits for a solo run. */
export function judgeClaim(view: PoolView): ClaimSize | undefined {
  const { free, stocked, target } = view
  const solos = slotsForSolos(view)
  const limit = Math.min(MOST_AT_ONCE, Math.max(free + target - stocked, solos))
  return limit <= 0 || (solos <= 0 && !isLow(stocked, target)) ? undefined : { limit, solos }
}

/** How many solo runs a claim may bring: as many as the stock leaves slots free, and on their turn, as are free. */
export function slotsForSolos({ free, stocked, hasSolos, isSoloTurn }: PoolView): number {
  if (!hasSolos) return 0
  return Math.max(0, isSoloTurn ? free : free - stocked)
}

/** Is so little left in stock that a claim is due? */
export function isLow(stocked: number, target: number): boolean {
  return stocked <= target / 2
}

/** What the claims of one tick showed. */
export interface TickResult {
  /** The first claim brought fewer runs than it asked for. */
  readonly isShort: boolean
  /** Runs that the later looks of the same tick found. */
  readonly found: number
  /** A wake-up came in meanwhile. */
  readonly wasWoken: boolean
  /** The lease is still the one that the tick began with. Under a lease that is over, claims find nothing. */
  readonly lease: "live" | "expired" | "replaced"
  /** More solo runs may be ready than there were slots for. */
  readonly mayLeaveSolos: boolean
  /** Slots that are free for solo runs now. */
  readonly slotsForSolos: number
}

export interface TickVerdict {
  /** The claims took every run that had been announced. */
  readonly isExhausted: boolean
  readonly next: "claim" | "rest"
}

export function judgeTick(result: TickResult): TickVerdict {
  const isEmptied = result.isShort && result.found === 0 && !result.wasWoken && result.lease !== "replaced"
  // Solo runs that were taken may have needed no slot, or have ended by now.
  const isSlotForSolo = result.mayLeaveSolos && result.slotsForSolos > 0
  return {
    isExhausted: isEmptied && result.lease === "live" && !result.mayLeaveSolos,
    next: isEmptied && !isSlotForSolo ? "rest" : "claim",
  }
}

/** The rest doubles with every tick that finds nothing. */
export function pollRestMs(emptyTicks: number): number {
  const pollMs = DEFAULTS.pollMs * 2 ** Math.max(0, emptyTicks - 1)
  return Math.min(DEFAULTS.idlePollMs, pollMs)
}

/**
 * What a pool knows of its queue.
 *
 * `unknown`: runs may be ready anywhere. `served`: claims took every run that was announced. `swept`: a sweep found
 * nothing below the marks of the claims. `quiet`: both, so no run waits as far as this process can know. A quiet pool
 * does not claim when a slot becomes free, and an enqueue may start its run without the queue.
 */
export type QueueState = "unknown" | "served" | "swept" | "quiet"

export type QueueEvent =
  | "announced" // a wake-up named a lane
  | "missed" // a wake-up may have been missed
  | "exhausted" // a claim took every run that had been announced
  | "filled" // a claim took as many as it could, so more may wait
  | "swept" // a sweep found nothing
  | "failed" // a claim or sweep failed

/** What each event makes of that knowledge. */
export const QUEUE_STATES: Readonly<Record<QueueState, Readonly<Record<QueueEvent, QueueState>>>> = {
  unknown: {
    announced: "unknown",
    missed: "unknown",
    exhausted: "served",
    filled: "unknown",
    swept: "swept",
    failed: "unknown",
  },
  served: {
    announced: "unknown",
    missed: "unknown",
    exhausted: "served",
    filled: "unknown",
    swept: "quiet",
    failed: "served",
  },
  swept: {
    announced: "swept",
    missed: "unknown",
    exhausted: "quiet",
    filled: "swept",
    swept: "swept",
    failed: "unknown",
  },
  quiet: {
    announced: "swept",
    missed: "unknown",
    exhausted: "quiet",
    filled: "swept",
    swept: "quiet",
    failed: "served",
  },
}

/** How fast a pool has been ending runs lately, which says how many to claim ahead. */
export interface Pace {
  /** A slot has become free. */
  readonly ended: () => void
  /** How many runs to have in stock: as many as the pool ends in a tenth of a second. */
  readonly target: () => number
}

const AHEAD_MS = 100
const MOST_AHEAD = 2_000
/** The rate is an average over about this time: a pool whose slots all end together is no faster for that. */
const AVERAGED_MS = 50
const STEP_MS = 1

/** A pool of slow handlers claims nothing ahead. A pool of fast ones claims enough never to wait for a claim. */
export function createPace(monotonicMs: () => number): Pace {
  let ratePerMs = 0
  let count = 0
  let sinceMs = monotonicMs()

  return {
    ended: () => {
      count += 1
    },
    target: () => {
      const elapsedMs = monotonicMs() - sinceMs
      if (elapsedMs >= STEP_MS) {
        const weight = 1 - Math.exp(-elapsedMs / AVERAGED_MS)
        ratePerMs += weight * (count / elapsedMs - ratePerMs)
        count = 0
        sinceMs = monotonicMs()
      }
      return Math.min(MOST_AHEAD, Math.floor(ratePerMs * AHEAD_MS))
    },
  }
}
