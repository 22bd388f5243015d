/**
 * Restricts a recurrence: to the period [startAt, endAt), and to days and instants that are not excluded.
 */

import { CYCLE_DAYS, DAY_MS } from "../time/civil.ts"
import type { InstantMs } from "../time/instant.ts"
import type { Recurrence } from "../time/recurrence.ts"
import { LARGEST_SHIFT_MS, type Zone } from "../time/zone.ts"

export function withinBounds(
  base: Recurrence,
  startAt: InstantMs | undefined,
  endAt: InstantMs | undefined,
): Recurrence {
  if (startAt === undefined && endAt === undefined) return base
  const start = startAt ?? Number.NEGATIVE_INFINITY
  const end = endAt ?? Number.POSITIVE_INFINITY
  return {
    next: (after) => {
      const found = base.next(Math.max(after, start === Number.NEGATIVE_INFINITY ? after : start - 1))
      return found !== undefined && found < end ? found : undefined
    },
    previous: (before) => {
      const found = base.previous(Math.min(before, end === Number.POSITIVE_INFINITY ? before : end))
      return found !== undefined && found >= start ? found : undefined
    },
    count: (from, to) =>
      base.count(Math.max(from, start), Math.max(Math.max(from, start), Math.min(to, end))),
  }
}

/** A recurrence with one instant. */
export function once(at: InstantMs): Recurrence {
  return {
    next: (after) => (after < at ? at : undefined),
    previous: (before) => (before > at ? at : undefined),
    count: (from, to) => (from <= at && at < to ? 1 : 0),
  }
}

/** Removes instants from a recurrence. Ignores instants that it does not contain. */
export function withoutInstants(base: Recurrence, instants: readonly InstantMs[]): Recurrence {
  const left = new Set(instants.filter((at) => base.next(at - 1) === at))
  if (left.size === 0) return base
  return {
    next: (after) => {
      let found = base.next(after)
      while (found !== undefined && left.has(found)) found = base.next(found)
      return found
    },
    previous: (before) => {
      let found = base.previous(before)
      while (found !== undefined && left.has(found)) found = base.previous(found)
      return found
    },
    count: (from, to) => base.count(from, to) - [...left].filter((at) => at >= from && at < to).length,
  }
}

/** A search gives up after this many excluded days. */
const MOST_DAYS = 10_000
/** A search gives up after one whole cycle of the calendar. */
const LONGEST_SEARCH_MS = CYCLE_DAYS * DAY_MS

/** Removes the instants whose date in the zone is excluded. */
export function withoutDays(base: Recurrence, zone: Zone, isExcluded: (day: number) => boolean): Recurrence {
  /** The next day in one direction that is not excluded. */
  function nextFree(day: number, side: 1 | -1): number | undefined {
    for (let step = 1; step <= MOST_DAYS; step += 1)
      if (!isExcluded(day + step * side)) return day + step * side
    return undefined
  }

  return {
    next: (after) => {
      let found = base.next(after)
      for (let days = 0; found !== undefined && days < MOST_DAYS; days += 1) {
        const { day, end } = dateSpan(zone, found)
        if (!isExcluded(day)) return found
        const free = nextFree(day, 1)
        if (free === undefined || found - after > LONGEST_SEARCH_MS) return undefined
        // Skips all excluded days at once, without a zone look-up for each day.
        found = base.next(Math.max(end, free * DAY_MS - LARGEST_SHIFT_MS) - 1)
      }
      return undefined
    },
    previous: (before) => {
      let found = base.previous(before)
      for (let days = 0; found !== undefined && days < MOST_DAYS; days += 1) {
        const { day, start } = dateSpan(zone, found)
        if (!isExcluded(day)) return found
        const free = nextFree(day, -1)
        if (free === undefined || before - found > LONGEST_SEARCH_MS) return undefined
        found = base.previous(Math.min(start, (free + 1) * DAY_MS + LARGEST_SHIFT_MS))
      }
      return undefined
    },
    count: (from, to) => {
      let total = 0
      for (let at = from; at < to; ) {
        const { day, end } = dateSpan(zone, at)
        if (!isExcluded(day)) total += base.count(at, Math.min(to, end))
        at = end
      }
      return total
    },
  }
}

/**
 * The local date at `at`, and the period around `at` with that date and without an offset change. A clock that goes
 * back over midnight shows a date twice. A zone that skips a day leaves a date out.
 */
function dateSpan(zone: Zone, at: InstantMs): { day: number; start: InstantMs; end: InstantMs } {
  const offset = zone.offsetAt(at)
  const day = Math.floor((at + offset) / DAY_MS)
  let start = day * DAY_MS - offset
  let end = start + DAY_MS
  for (const change of zone.changesIn(start, end)) {
    if (change.at <= at) start = change.at
    else end = Math.min(end, change.at)
  }
  return { day, start, end }
}
