/**
 * Remembers where to start reading the line of parked runs under a limit key, so that reads skip dead index entries.
 *
 * Normally a read starts at the front of the line. An old snapshot keeps the index entries of runs that have left the
 * line, and each read walks over them. After a slow read from the front, the next reads therefore start, in each
 * priority, just before the first run of that read. They read priorities without a mark in full. Reads from the front
 * repeat regularly and take at most 0.5 % of the time.
 *
 * Not for overlap lines: there an earlier occurrence may still join at the front.
 *
 * A read from a mark misses a run that joins with an older rank, such as the run of a long transaction. The sweep finds
 * the first run of the line and moves the mark back (`begins`). The next read from the front finds all others.
 */

/** The place of a run in its line: higher priorities first, then lower ranks. */
export interface Place {
  readonly priority: number
  readonly rank: bigint
}

/** The parts of the lines to read: between two priorities, both excluded, and in one priority from a rank on. */
export interface Stretches {
  readonly keys: string[]
  readonly aboves: bigint[]
  readonly belows: bigint[]
  readonly markedKeys: string[]
  readonly priorities: number[]
  readonly froms: bigint[]
}

/** One read of some lines. */
export interface LineRead {
  readonly stretches: Stretches
  /** Reports the runs found in one line. */
  readonly saw: (key: string, places: readonly Place[], facts: ReadFacts) => void
}

export interface ReadFacts {
  /** The duration of the read, beyond that of a read without dead entries. */
  readonly forMs: number
  readonly untilMs: number
  /** Whether the read returned the whole line. False if it stopped at its limit. */
  readonly isAll: boolean
}

export interface LineStarts {
  readonly look: (keys: readonly string[], nowMs: number) => LineRead
  /** Reports the place of the first run in a line. */
  readonly begins: (key: string, first: Place) => void
}

const BELOW_ALL = -(2n ** 31n) - 1n
const ABOVE_ALL = 2n ** 31n
/** In microseconds, as ranks. A run that becomes visible this long after its rank is still found. */
const SLACK = 100_000n
/** Reads faster than this always start at the front. */
const LONG_MS = 5
/** After a slow read from the front, the next one waits 200 times its duration, at most 5 seconds. */
const PART_OF_TIME = 200
const AT_LEAST_EVERY_MS = 5_000
/** Bounds of the memory: no real line has more priorities, and no process more busy lines. */
const MOST_PRIORITIES = 16
const MOST_KEYS = 10_000

interface Mark {
  /** When the next read must start at the front. */
  readonly trustedUntilMs: number
  readonly froms: ReadonlyMap<number, bigint>
}

export function createLineStarts(): LineStarts {
  const marks = new Map<string, Mark>()

  function remember(key: string, mark: Mark): void {
    marks.delete(key)
    if (marks.size >= MOST_KEYS) marks.clear()
    if (mark.froms.size > 0 && mark.froms.size <= MOST_PRIORITIES) marks.set(key, mark)
  }

  return {
    look: (keys, nowMs) => {
      const trusted = new Map<string, Mark>()
      for (const key of keys) {
        const mark = marks.get(key)
        if (mark !== undefined && nowMs < mark.trustedUntilMs) trusted.set(key, mark)
      }
      return {
        stretches: stretchesOf(keys, trusted),
        saw: (key, places, { forMs, untilMs, isAll }) => {
          const before = marks.get(key)
          const used = trusted.get(key)
          if (used !== undefined) {
            // Not if `begins` changed the mark during the read.
            if (before === used)
              remember(key, { ...used, froms: new Map([...used.froms, ...marksBefore(places)]) })
            return
          }
          if (forMs < LONG_MS) return
          // After a complete read, a priority without runs keeps its old mark.
          const kept = isAll ? (before?.froms ?? []) : []
          const restMs = Math.min(forMs * PART_OF_TIME, AT_LEAST_EVERY_MS)
          remember(key, {
            trustedUntilMs: untilMs + restMs,
            froms: new Map([...kept, ...marksBefore(places)]),
          })
        },
      }
    },
    begins: (key, first) => {
      const mark = marks.get(key)
      if (mark) remember(key, { ...mark, froms: new Map([...mark.froms, ...marksBefore([first])]) })
    },
  }
}

function stretchesOf(keys: readonly string[], trusted: ReadonlyMap<string, Mark>): Stretches {
  const all: Stretches = { keys: [], aboves: [], belows: [], markedKeys: [], priorities: [], froms: [] }
  for (const key of keys) addStretches(all, key, trusted.get(key)?.froms ?? new Map())
  return all
}

/** Covers one line: each marked priority from its mark on, and the priorities above, between and below in full. */
function addStretches(all: Stretches, key: string, froms: ReadonlyMap<number, bigint>): void {
  let below = ABOVE_ALL
  const addGap = (above: bigint) => {
    if (below - above < 2n) return
    all.keys.push(key)
    all.aboves.push(above)
    all.belows.push(below)
  }
  for (const [priority, from] of [...froms].sort(([a], [b]) => b - a)) {
    addGap(BigInt(priority))
    all.markedKeys.push(key)
    all.priorities.push(priority)
    all.froms.push(from)
    below = BigInt(priority)
  }
  addGap(BELOW_ALL)
}

/** A mark just before the first run of each priority. */
function marksBefore(places: readonly Place[]): Map<number, bigint> {
  const marks = new Map<number, bigint>()
  for (const { priority, rank } of places) {
    const mark = rank - SLACK
    const known = marks.get(priority)
    if (known === undefined || mark < known) marks.set(priority, mark)
  }
  return marks
}
