/**
 * Where to begin looking in the line under a key, so that what is long gone is not walked again and again.
 *
 * As a rule at its very start: whoever is in line is seen. But while somebody holds an old snapshot, all who have gone on
 * still stand there, and a look takes the longer the more they are. So when a look from the start has taken long, the next
 * ones begin, in each priority, a moment before the first whom the last one saw, and look at the other priorities as
 * always. Now and then one begins at the start again, as often as that takes half a hundredth of the time.
 *
 * Not for lines in which somebody may come back to the front, as occurrences of a schedule do.
 *
 * Overlooked is meanwhile who came in with an older rank than those, as the run of a transaction that was open for long.
 * The sweep finds the first of all and says where he stands; whoever it does not find, the next look from the start does.
 */

/** Where one run stands in a line. Higher priorities go first, and lower ranks within one. */
export interface Place {
  readonly priority: number
  readonly rank: bigint
}

/** What to look at: stretches between two priorities, both excluded, and those of one priority from a rank on. */
export interface Stretches {
  readonly keys: string[]
  readonly aboves: bigint[]
  readonly belows: bigint[]
  readonly markedKeys: string[]
  readonly priorities: number[]
  readonly froms: bigint[]
}

/** A look at some lines. */
export interface LineLook {
  readonly stretches: Stretches
  /** What it brought of one line. */
  readonly saw: (key: string, places: readonly Place[], facts: LookFacts) => void
}

export interface LookFacts {
  /** How long it took, beyond what such a look takes where nobody is in the way. */
  readonly forMs: number
  readonly untilMs: number
  /** Whether those are all that it could see: nobody was left out because there were too many. */
  readonly isAll: boolean
}

export interface LineStarts {
  readonly look: (keys: readonly string[], nowMs: number) => LineLook
  /** The first of all in a line stands here, and not before. */
  readonly begins: (key: string, first: Place) => void
}

const BELOW_ALL = -(2n ** 31n) - 1n
const ABOVE_ALL = 2n ** 31n
/** Ranks are microseconds. A run may be seen so much later than its rank says and is not overlooked. */
const SLACK = 100_000n
/** A look that takes less is always made from the start. */
const LONG_MS = 5
/** Looks from the start take this part of the time, and there is one in this time however long it takes. */
const PART_OF_TIME = 200
const AT_LEAST_EVERY_MS = 5_000
/** More priorities than a line has, and more lines than are busy at once. */
const MOST_PRIORITIES = 16
const MOST_KEYS = 10_000

interface Mark {
  /** When to look from the start again. */
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
            // Unless somebody has said meanwhile where the line begins.
            if (before === used)
              remember(key, { ...used, froms: new Map([...used.froms, ...marksBefore(places)]) })
            return
          }
          if (forMs < LONG_MS) return
          // A priority in which nobody was seen has nobody before its old mark either, if all were seen.
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

/** All of one line: each marked priority from its mark on, and what lies above, between and below them. */
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

/** A moment before the first in each priority. */
function marksBefore(places: readonly Place[]): Map<number, bigint> {
  const marks = new Map<number, bigint>()
  for (const { priority, rank } of places) {
    const mark = rank - SLACK
    const known = marks.get(priority)
    if (known === undefined || mark < known) marks.set(priority, mark)
  }
  return marks
}
