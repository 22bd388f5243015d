/**
 * Converts a local-time pattern to instants in a zone, across every offset change.
 *
 * Clocks go forward by g at X: the local times in the gap do not exist. For the period g after X, the *shadow*, the
 * pattern is also matched with the old offset. A time in the gap therefore fires g later, once.
 *
 * Clocks go back by g at X: the local times before X repeat. For the period g after X, the *second pass*, nothing
 * fires, unless the pattern matches in every hour.
 *
 * The rules use offset changes only, so half-hour changes and skipped days need no special case. Between changes the
 * offset is constant and a search is one step of the pattern.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./civil.ts"
import type { InstantMs } from "./instant.ts"
import type { Recurrence } from "./recurrence.ts"
import type { WallPattern } from "./wall-pattern.ts"
import { type Change, LARGEST_SHIFT_MS, type Zone } from "./zone.ts"

/** What a schedule does with local times that a clock change skips or repeats. */
export interface DstPolicy {
  /**
   * What happens to a time that does not exist because clocks go forward.
   *
   * - `"shift"`: it fires later by the size of the change: 02:30 becomes 03:30.
   * - `"next"`: it fires at the moment of the change, once for all skipped times: 02:30 becomes 03:00.
   * - `"skip"`: it does not fire on that day.
   *
   * @default "shift"
   */
  readonly gap: "shift" | "next" | "skip"
  /**
   * What happens to a time that occurs twice because clocks go back.
   *
   * - `"auto"`: it fires once, the first time. A schedule that fires in every hour of the day fires both times.
   * - `"first"`: it fires once, the first time.
   * - `"both"`: it fires twice.
   *
   * @default "auto"
   */
  readonly fold: "auto" | "first" | "both"
}

/** How far one query of the zone's changes reaches. */
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
        // No local time matches before `wall`, so the search jumps there, over years if need be.
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

  /** The offsets to match the pattern with: the current one, and that before each shadow. */
  function matchingOffsets(offset: number, active: readonly Change[]): number[] {
    const own = twice || !active.some(isBackward) ? [offset] : []
    const shadows = dst.gap === "shift" ? active.filter(isForward) : []
    return [...own, ...shadows.map((change) => offset - change.size)]
  }

  /** Whether the times that a change skips fire at `at` (`gap: "next"`). */
  function firesForGap(at: InstantMs, offset: number, active: readonly Change[]): boolean {
    if (dst.gap !== "next") return false
    return active.some((change) => isForward(change) && change.at === at && skipsSomething(change, offset))
  }

  /** The first instant of a stretch. */
  function firstIn({ at, end, offset, active }: Stretch): InstantMs | undefined {
    if (firesForGap(at, offset, active)) return at
    let found: InstantMs | undefined
    for (const by of matchingOffsets(offset, active)) {
      const wall = pattern.next(at + by)
      if (wall !== undefined && wall - by < (found ?? end)) found = wall - by
    }
    return found
  }

  /** The last instant of a stretch. */
  function lastIn({ at, end, offset, active }: Stretch): InstantMs | undefined {
    let found: InstantMs | undefined
    for (const by of matchingOffsets(offset, active)) {
      const wall = pattern.previous(end - SECOND_MS + by)
      if (wall !== undefined && wall - by >= (found ?? at)) found = wall - by
    }
    return found ?? (firesForGap(at, offset, active) ? at : undefined)
  }

  /**
   * The number of instants in a stretch. Two offsets may match the same instant. Counting per piece avoids counting
   * it twice: within a piece, both offsets match the same instants or one of them matches none. A piece is an hour, a
   * minute or a second, whichever divides the size of the change.
   */
  function countIn({ at, end, offset, active }: Stretch): number {
    const offsets = matchingOffsets(offset, active)
    const inPiece = (from: InstantMs, to: InstantMs) =>
      Math.max(0, ...offsets.map((by) => pattern.count(from + by, to + by)))
    const pieceMs = offsets.length < 2 ? Number.POSITIVE_INFINITY : pieceOf(active)
    let total = 0
    for (let from = at; from < end; ) {
      const to = Math.min(end, (Math.floor((from + offset) / pieceMs) + 1) * pieceMs - offset)
      total += inPiece(from, to)
      from = to
    }
    const isExtra = firesForGap(at, offset, active) && inPiece(at, at + 1) === 0
    return isExtra ? total + 1 : total
  }

  /** Whether the pattern matches a local time that the change skips. */
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

/** A period [at, end) with a constant offset and the same active changes. */
interface Stretch {
  readonly at: InstantMs
  readonly end: InstantMs
  readonly offset: number
  readonly active: readonly Change[]
}

/** The largest unit, of hour, minute and second, that divides every change. */
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

/** The next instant after `at` at which a change happens or its shadow or second pass ends. */
function firstBorderAfter(changes: readonly Change[], at: InstantMs): InstantMs {
  return Math.min(...changes.flatMap((change) => [change.at, endOf(change)]).filter((border) => border > at))
}

/** The last instant up to `at` at which a change happened or its shadow or second pass ended. */
function lastBorderUpTo(changes: readonly Change[], at: InstantMs): InstantMs {
  return Math.max(...changes.flatMap((change) => [change.at, endOf(change)]).filter((border) => border <= at))
}
