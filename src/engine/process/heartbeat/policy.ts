/** What to make of pulses, renewals and what is left of a lease: verdicts from numbers, for both threads. */
import { DEFAULTS } from "../../../defaults.ts"

/**
 * For how long the thread speaks for a main loop that gives no sign: for the longest timeout of what runs there, with
 * some grace, and for a few leases at least. Beyond that the process is taken for stuck, and its runs are better off
 * elsewhere.
 */
export function maxBlockOf(leaseMs: number, longestTimeoutMs: number | null): number {
  const longestMs = longestTimeoutMs === null ? 0 : longestTimeoutMs + DEFAULTS.graceMs
  return Math.max(DEFAULTS.maxBlockLeases * leaseMs, longestMs)
}

export interface PulseSeen {
  readonly nowMs: number
  readonly pulseAtMs: number
  readonly maxBlockMs: number
}

/** Whether the thread may renew for the main loop. */
export function judgePulse({ nowMs, pulseAtMs, maxBlockMs }: PulseSeen): "renew" | "silence" {
  return nowMs - pulseAtMs <= maxBlockMs ? "renew" : "silence"
}

/** How often the main loop gives a sign. */
export function pulseEveryMs(renewEveryMs: number): number {
  return Math.min(1_000, renewEveryMs)
}

export interface LeaseSeen {
  readonly remainingMs: number
  /** By how much the main loop comes later than it meant to. */
  readonly lateMs: number
  readonly everyMs: number
}

/**
 * What the main loop makes of its lease. One that ran out while the loop was on time could not be renewed: it is lost.
 * One that ran out while the loop was away may be alive, as nobody here was able to renew it: ask first.
 */
export function judgeLease({ remainingMs, lateMs, everyMs }: LeaseSeen): "keep" | "ask" | "lost" {
  if (remainingMs > 0) return "keep"
  return lateMs > everyMs ? "ask" : "lost"
}

export interface ThreadSeen {
  readonly nowMs: number
  /** When the thread last sent a renewal that succeeded. */
  readonly renewedAtMs: number
  readonly renewEveryMs: number
  /** It has said that it cannot renew. */
  readonly isFailing: boolean
}

/** How long the main loop may leave renewing to the thread; nothing when it has to do it itself. */
export function spareMs({ nowMs, renewedAtMs, renewEveryMs, isFailing }: ThreadSeen): number {
  if (isFailing) return 0
  // Half an interval late is late for a thread that has nothing else to do.
  return Math.max(0, renewedAtMs + 1.5 * renewEveryMs - nowMs)
}
