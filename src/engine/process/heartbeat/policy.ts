/** Judges pulses, renewals and the rest of a lease: verdicts from numbers, for both threads. */
import { DEFAULTS } from "../../../defaults.ts"

/**
 * How long the thread renews for a silent main loop: for the longest timeout of its handlers plus the grace, and at
 * least for a few leases. After that the process counts as stuck, and other workers should execute its runs.
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

/** May the thread renew for the main loop? */
export function judgePulse({ nowMs, pulseAtMs, maxBlockMs }: PulseSeen): "renew" | "silence" {
  return nowMs - pulseAtMs <= maxBlockMs ? "renew" : "silence"
}

/** How often the main loop gives a sign of life. */
export function pulseEveryMs(renewEveryMs: number): number {
  return Math.min(1_000, renewEveryMs)
}

export interface LeaseSeen {
  readonly remainingMs: number
  /** How much later than planned the main loop came by. */
  readonly lateMs: number
  readonly everyMs: number
}

/**
 * The main loop's view of its lease. `lost`: the lease ran out although the loop was on time. `ask`: it ran out while
 * the loop was blocked, so the database may still take it for live.
 */
export function judgeLease({ remainingMs, lateMs, everyMs }: LeaseSeen): "keep" | "ask" | "lost" {
  if (remainingMs > 0) return "keep"
  return lateMs > everyMs ? "ask" : "lost"
}

export interface ThreadSeen {
  readonly nowMs: number
  /** When the thread last sent a successful renewal. */
  readonly renewedAtMs: number
  readonly renewEveryMs: number
  /** The thread has reported that it cannot renew. */
  readonly isFailing: boolean
}

/** How long the main loop may leave renewing to the thread. Zero if it must renew itself. */
export function spareMs({ nowMs, renewedAtMs, renewEveryMs, isFailing }: ThreadSeen): number {
  if (isFailing) return 0
  // A thread that has nothing else to do is late after half an interval.
  return Math.max(0, renewedAtMs + 1.5 * renewEveryMs - nowMs)
}
