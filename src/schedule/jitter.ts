/**
 * Deterministic jitter: a hash of schedule and occurrence gives the delay, so every process computes the same due time.
 * The identity of an occurrence stays its planned instant.
 */
import { hash64 } from "../job/hash.ts"
import { SECOND_MS } from "../time/civil.ts"
import type { InstantMs } from "../time/instant.ts"

export interface Delays {
  /** The longest jitter. It differs between occurrences. */
  readonly jitterMs: number
  /** The longest spread. It is the same for all occurrences of a schedule. */
  readonly spreadMs: number
}

/** The due time of an occurrence: at or after its planned instant, and before the next one. */
export function dueOf(occurrence: {
  readonly scheduleId: string
  readonly at: InstantMs
  /** The following occurrence, if there is one. */
  readonly next: InstantMs | undefined
  readonly delays: Delays
}): InstantMs {
  const { scheduleId, at, next, delays } = occurrence
  const roomMs = next === undefined ? Number.POSITIVE_INFINITY : Math.max(0, next - at - SECOND_MS)
  // Scaled to the room. Clamping would put many occurrences at the same instant, just before the next one.
  const spread = Math.floor(fraction(scheduleId) * Math.min(delays.spreadMs, roomMs))
  const jitter = Math.floor(fraction(`${scheduleId}|${at}`) * Math.min(delays.jitterMs, roomMs - spread))
  return at + spread + jitter
}

/** A pseudo-random number in [0, 1): the upper 53 bits of a 64-bit hash. */
function fraction(text: string): number {
  return Number(hash64(text) >> 11n) / 2 ** 53
}
