/**
 * Time zones as UTC offsets and the instants at which they change, for every zone in the platform's IANA data.
 *
 * `Intl` only tells the local time at an instant. This module samples it every four days and bisects between samples
 * that differ. It stores the result in blocks of 128 days: the offset at the start and the changes inside. A block is
 * built on first use and cached.
 */
import { DAY_MS, dayNumber, HOUR_MS, MINUTE_MS, SECOND_MS } from "./civil.ts"
import type { InstantMs } from "./instant.ts"

export interface Zone {
  /** The IANA id, as the platform spells it. */
  readonly id: string
  /** Local time minus UTC at an instant, in milliseconds. */
  readonly offsetAt: (at: InstantMs) => number
  /** The offset changes in [from, to), oldest first. */
  readonly changesIn: (from: InstantMs, to: InstantMs) => readonly Change[]
}

/** At `at` local time jumps by `size` milliseconds: forward if positive, back if negative. */
export interface Change {
  readonly at: InstantMs
  readonly size: number
}

/** No offset and no change since 1970 is larger. */
export const LARGEST_SHIFT_MS = 26 * HOUR_MS

/**
 * Sampling misses two changes that cancel out between two samples. The closest pair since 1970 is almost 7 days apart
 * (Recife, October 2000).
 */
const SAMPLE_MS = 4 * DAY_MS
const SAMPLES_PER_BLOCK = 32
const BLOCK_MS = SAMPLE_MS * SAMPLES_PER_BLOCK
/** About 90 years. A zone that needs more blocks clears its cache. */
const MOST_BLOCKS = 256

/** The reader below parses four-digit years. Outside this range a zone keeps its offset. */
const EARLIEST_MS = dayNumber(1000, 1, 2) * DAY_MS
const LATEST_MS = dayNumber(9999, 12, 30) * DAY_MS

export const UTC: Zone = { id: "UTC", offsetAt: () => 0, changesIn: () => [] }

interface Block {
  /** The offset just before the block. */
  readonly offset: number
  readonly changes: readonly Change[]
}

const NO_CHANGES: readonly Change[] = []

/** The zone with this id, or `undefined` if the platform does not know it. */
export function openZone(id: string): Zone | undefined {
  const wallOf = createWallReader(id)
  if (wallOf === undefined) return undefined
  if (wallOf.id === "UTC") return UTC
  const offsetNow = (at: InstantMs) => {
    const known = Math.min(LATEST_MS, Math.max(EARLIEST_MS, at))
    return wallOf.read(known) - known
  }
  const blocks = new Map<number, Block>()

  function block(index: number): Block {
    const known = blocks.get(index)
    if (known !== undefined) return known
    if (blocks.size >= MOST_BLOCKS) blocks.clear()
    const made = makeBlock(index * BLOCK_MS, offsetNow)
    blocks.set(index, made)
    return made
  }

  return {
    id: wallOf.id,
    offsetAt: (at) => {
      const { offset, changes } = block(Math.floor(at / BLOCK_MS))
      let current = offset
      for (const change of changes) if (change.at <= at) current += change.size
      return current
    },
    changesIn: (from, to) => {
      const first = Math.floor(from / BLOCK_MS)
      const last = Math.ceil(to / BLOCK_MS) - 1
      let found = NO_CHANGES
      for (let index = first; index <= last; index += 1) {
        const { changes } = block(index)
        if (changes.length === 0) continue
        const inside = changes.filter(({ at }) => at >= from && at < to)
        if (inside.length > 0) found = found.length === 0 ? inside : [...found, ...inside]
      }
      return found
    },
  }
}

/** Samples from one second before the block, so that a change at its first instant belongs to it. */
function makeBlock(startMs: InstantMs, offsetOf: (at: InstantMs) => number): Block {
  const offset = offsetOf(startMs - SECOND_MS)
  const changes: Change[] = []
  let before = offset
  for (let sample = 1; sample <= SAMPLES_PER_BLOCK; sample += 1) {
    const endMs = startMs + sample * SAMPLE_MS - SECOND_MS
    const after = offsetOf(endMs)
    if (after !== before) changes.push(...bisect(endMs - SAMPLE_MS, endMs, before, offsetOf))
    before = after
  }
  return { offset, changes }
}

/** The changes in (low, high], to the second: zones have no finer resolution. */
function bisect(
  lowMs: number,
  highMs: number,
  before: number,
  offsetOf: (at: InstantMs) => number,
): Change[] {
  let low = lowMs
  let high = highMs
  while (high - low > SECOND_MS) {
    const middle = Math.floor((low + high) / 2 / SECOND_MS) * SECOND_MS
    if (offsetOf(middle) === before) low = middle
    else high = middle
  }
  const after = offsetOf(high)
  const change = { at: high, size: after - before }
  return offsetOf(highMs) === after ? [change] : [change, ...bisect(high, highMs, after, offsetOf)]
}

/** Reads the local time of a zone from `Intl`, as wall milliseconds. */
function createWallReader(id: string): { id: string; read: (at: InstantMs) => number } | undefined {
  const format = createFormat(id)
  if (format === undefined) return undefined
  return {
    id: format.resolvedOptions().timeZone,
    read: (at) => {
      // Always formatted as "03/29/2026, 02:30:00". Slicing is cheaper than formatToParts.
      const text = format.format(at)
      const number = (from: number, to: number) => Number(text.slice(from, to))
      const day = dayNumber(number(6, 10), number(0, 2), number(3, 5))
      return day * DAY_MS + number(12, 14) * HOUR_MS + number(15, 17) * MINUTE_MS + number(18, 20) * SECOND_MS
    },
  }
}

function createFormat(id: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: id,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    })
  } catch {
    return undefined
  }
}
