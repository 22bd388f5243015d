/**
 * By how much an occurrence is delayed on purpose: always the same for the same schedule and occurrence, so that
 * every process computes the same. What an occurrence is called does not change: its identity is its planned instant.
 */
import { SECOND_MS } from "../time/civil.ts"
import type { InstantMs } from "../time/instant.ts"

export interface Delays {
  /** Up to this much, different for each occurrence. */
  readonly jitterMs: number
  /** Up to this much, the same for all occurrences of a schedule. */
  readonly spreadMs: number
}

/** When an occurrence is due: not before it is planned, and before the next one is. */
export function dueOf(occurrence: {
  readonly scheduleId: string
  readonly at: InstantMs
  /** The occurrence after it, if there is one. */
  readonly next: InstantMs | undefined
  readonly delays: Delays
}): InstantMs {
  const { scheduleId, at, next, delays } = occurrence
  const roomMs = next === undefined ? Number.POSITIVE_INFINITY : Math.max(0, next - at - SECOND_MS)
  // Scaled to the room and not cut off at its end, where they would all meet again.
  const spread = Math.floor(fraction(scheduleId) * Math.min(delays.spreadMs, roomMs))
  const jitter = Math.floor(fraction(`${scheduleId}|${at}`) * Math.min(delays.jitterMs, roomMs - spread))
  return at + spread + jitter
}

/** A number in [0, 1) that looks random and is not: the upper 53 bits of a 64-bit hash. */
function fraction(text: string): number {
  return Number(hash64(text) >> 11n) / 2 ** 53
}

/** FNV-1a over the UTF-16 code units, then a finaliser, because FNV alone leaves the upper bits of short texts alike. */
export function hash64(text: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n)
  }
  hash = BigInt.asUintN(64, (hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn)
  hash = BigInt.asUintN(64, (hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n)
  return hash ^ (hash >> 33n)
}
