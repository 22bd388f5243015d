/**
 * Wall times of a zone as instants, across every change of its clock.
 *
 * When the clock is set forward by g at X, the readings of that gap do not exist. For g after X, the *shadow*, the
 * old reading still counts beside the new one, so that what was meant for the gap happens g later, once. When the
 * clock is set back by g at X, the readings before X come a second time. For g after X, the *second pass*, nothing
 * counts, unless the pattern matches in every hour and so follows elapsed time.
 *
 * All this is defined on changes of the offset: half-hour changes, skipped days and political decisions are the
 * same case. Between changes the offset is constant and the search is one step of the pattern.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./civil.ts"
import type { InstantMs } from "./instant.ts"
import type { Recurrence } from "./recurrence.ts"
import type { WallPattern } from "./wall-pattern.ts"
import { type Change, LARGEST_SHIFT_MS, type Zone } from "./zone.ts"

/** What happens to wall times that a clock change leaves out or repeats. */
export interface DstPolicy {
  /**
   * What happens to a time that does not exist when the clock is set forward.
   *
   * - `"shift"`: they happen as much later as the clock was moved: 02:30 at 03:30.
   * - `"next"`: they happen together at the moment of the change: 02:30 at 03:00.
   * - `"skip"`: they do not happen that day.
   *
   * @default "shift"
   */
  readonly gap: "shift" | "next" | "skip"
  /**
   * What happens to a time that occurs twice when the clock is set back.
   *
   * - `"auto"`: once, on the first pass, unless the schedule runs in every hour of the day.
   * - `"first"`: once, on the first pass.
   * - `"both"`: twice.
   *
   * @default "auto"
   */
  readonly fold: "auto" | "first" | "both"
}

/** How far one look at the zone reaches. */
const WINDOW_MS = 100 * 86_400_000

export function createZoned(pattern: WallPattern, zone: Zone, dst: DstPolicy): Recurrence {
  const twice = dst.fold === "both" || (dst.fold === "auto" && pattern.everyHour)

  function next(after: InstantMs): InstantMs | undefined {
    let at = Math.floor(after / SECOND_MS) * SECOND_MS + SECOND_MS
    for (;;) {
      const changes = zone
        .changesIn(at - LARGEST_SHIFT_MS, at + WINDOW_MS)
        .filter((change) => endOf(change) > at)
      const [first] = changes
      const offset = zone.offsetAt(at)
      if (first === undefined || first.at > at) {
        const end = first?.at ?? at + WINDOW_MS
        const wall = pattern.next(at + offset)
        if (wall === undefined) return undefined
        if (wall - offset < end) return wall - offset
        // No reading matches before that one, so whole years can be passed at once.
        at = end - at >= LARGEST_SHIFT_MS ? Math.max(end, wall - LARGEST_SHIFT_MS) : end
      } else {
        const end = firstBorderAfter(changes, at)
        const found = firstIn({ at, end, offset, active: activeAt(changes, at) })
        if (found !== undefined) return found
        at = end
      }
    }
  }

  function previous(before: InstantMs): InstantMs | undefined {
    let at = Math.ceil(before / SECOND_MS) * SECOND_MS - SECOND_MS
    for (;;) {
      const changes = zone.changesIn(at - WINDOW_MS - LARGEST_SHIFT_MS, at + 1)
      const active = activeAt(changes, at)
      const offset = zone.offsetAt(at)
      if (active.length === 0) {
        const start = Math.max(at - WINDOW_MS, ...changes.map(endOf))
        const wall = pattern.previous(at + offset)
        if (wall === undefined) return undefined
        if (wall - offset >= start) return wall - offset
        at =
          at - start >= LARGEST_SHIFT_MS
            ? Math.min(start - SECOND_MS, wall + LARGEST_SHIFT_MS)
            : start - SECOND_MS
      } else {
        const start = lastBorderUpTo(changes, at)
        const found = lastIn({ at: start, end: at + SECOND_MS, offset, active })
        if (found !== undefined) return found
        at = start - SECOND_MS
      }
    }
  }

  /** How far the readings that count are ahead of UTC, where the offset is constant and these changes are active. */
  function readings(offset: number, active: readonly Change[]): number[] {
    const own = twice || !active.some(isBackward) ? [offset] : []
    const shadows = dst.gap === "shift" ? active.filter(isForward) : []
    return [...own, ...shadows.map((change) => offset - change.size)]
  }

  /** Whether what a change skips happens together at `at`. */
  function isGathered(at: InstantMs, offset: number, active: readonly Change[]): boolean {
    if (dst.gap !== "next") return false
    return active.some((change) => isForward(change) && change.at === at && skipsSomething(change, offset))
  }

  /** The first instant in [at, end), where the offset is constant and the same changes are active. */
  function firstIn({ at, end, offset, active }: Stretch): InstantMs | undefined {
    if (isGathered(at, offset, active)) return at
    let found: InstantMs | undefined
    for (const by of readings(offset, active)) {
      const wall = pattern.next(at + by)
      if (wall !== undefined && wall - by < (found ?? end)) found = wall - by
    }
    return found
  }

  /** The last one. */
  function lastIn({ at, end, offset, active }: Stretch): InstantMs | undefined {
    let found: InstantMs | undefined
    for (const by of readings(offset, active)) {
      const wall = pattern.previous(end - SECOND_MS + by)
      if (wall !== undefined && wall - by >= (found ?? at)) found = wall - by
    }
    return found ?? (isGathered(at, offset, active) ? at : undefined)
  }

  /**
   * How many there are. Two readings may name one instant, so the stretch is cut into pieces in which each of them
   * either matches exactly as the other does or not at all: hours, minutes or seconds, as the size of the change is.
   */
  function countIn({ at, end, offset, active }: Stretch): number {
    const offsets = readings(offset, active)
    const inPiece = (from: InstantMs, to: InstantMs) =>
      Math.max(0, ...offsets.map((by) => pattern.count(from + by, to + by)))
    const pieceMs = offsets.length < 2 ? Number.POSITIVE_INFINITY : pieceOf(active)
    let total = 0
    for (let from = at; from < end; ) {
      const to = Math.min(end, (Math.floor((from + offset) / pieceMs) + 1) * pieceMs - offset)
      total += inPiece(from, to)
      from = to
    }
    const isExtra = isGathered(at, offset, active) && inPiece(at, at + 1) === 0
    return isExtra ? total + 1 : total
  }

  /** Whether a reading that the change skips would have matched. */
  function skipsSomething(change: Change, offsetAfter: number): boolean {
    const wall = pattern.next(change.at + offsetAfter - change.size)
    return wall !== undefined && wall < change.at + offsetAfter
  }

  function count(from: InstantMs, to: InstantMs): number {
    let total = 0
    for (let at = from; at < to; ) {
      const last = Math.min(to, at + WINDOW_MS)
      const changes = zone.changesIn(at - LARGEST_SHIFT_MS, last).filter((change) => endOf(change) > at)
      const [first] = changes
      const offset = zone.offsetAt(at)
      const isPlain = first === undefined || first.at > at
      const end = Math.min(last, isPlain ? (first?.at ?? last) : firstBorderAfter(changes, at))
      total += isPlain
        ? pattern.count(at + offset, end + offset)
        : countIn({ at, end, offset, active: activeAt(changes, at) })
      at = end
    }
    return total
  }

  return { next, previous, count }
}

/** [at, end), in which the offset is constant and the same changes are active. */
interface Stretch {
  readonly at: InstantMs
  readonly end: InstantMs
  readonly offset: number
  readonly active: readonly Change[]
}

/** The largest unit of the clock that measures all these changes. */
function pieceOf(changes: readonly Change[]): number {
  const measures = (unit: number) => changes.every(({ size }) => size % unit === 0)
  return [HOUR_MS, MINUTE_MS].find(measures) ?? SECOND_MS
}

function endOf({ at, size }: Change): InstantMs {
  return at + Math.abs(size)
}

/** The changes whose shadow or second pass covers `at`. */
function activeAt(changes: readonly Change[], at: InstantMs): Change[] {
  return changes.filter((change) => change.at <= at && at < endOf(change))
}

function isForward({ size }: Change): boolean {
  return size > 0
}

function isBackward({ size }: Change): boolean {
  return size < 0
}

/** The next instant after `at` at which a change happens or ceases to matter. */
function firstBorderAfter(changes: readonly Change[], at: InstantMs): InstantMs {
  return Math.min(...changes.flatMap((change) => [change.at, endOf(change)]).filter((border) => border > at))
}

/** The last instant up to `at` at which a change happened or ceased to matter. */
function lastBorderUpTo(changes: readonly Change[], at: InstantMs): InstantMs {
  return Math.max(...changes.flatMap((change) => [change.at, endOf(change)]).filter((border) => border <= at))
}
