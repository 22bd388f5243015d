/**
 * Where to begin looking for ready runs, so that what is long gone is not walked again and again.
 *
 * Queued runs are ordered by rank, and a rank is the moment at which the run became ready. A claimer that has taken
 * everything up to a rank, or has seen that nothing is left there to be taken, begins there the next time. Two kinds of
 * runs can still turn up below: those of a transaction that was open when the mark passed them (its writes were not to be
 * seen yet, or it held locks and let go of them), and those whose wake-up says so. So the mark remembers which transactions
 * were open at each look, and when one of them has ended, it goes back to where it stood before that one was first seen.
 *
 * Whatever was passed for the first time is found again so. A run that is locked once more when the mark has just come
 * back for it may be overlooked; so may one that became ready while the clock was set back by less than the time
 * between two looks. Those are found when someone begins at the bottom.
 */

/** Before every rank. */
export const BOTTOM = -(2n ** 63n)
/** After every rank. */
export const TOP = 2n ** 63n - 1n

/** Ranks are microseconds. A statement reads the clock a moment before its transaction can be seen. */
const SLACK = 100_000n
/** Who has been open for so long may stay so for hours, and must not hold back everybody who starts meanwhile. */
const LONG_OPEN = 10_000_000n
/** More lanes than anyone has. */
const MOST_WOKEN = 1_000
/** More than there can be connections. */
const MOST_UNLISTED = 10_000n

/** What is open at one moment. */
export interface Snapshot {
  /** The rank of the moment. */
  readonly rank: bigint
  /** Every transaction from this one on has not begun. */
  readonly next: bigint
  readonly open: ReadonlySet<bigint>
}

/**
 * Reads `xmin:xmax:xip,xip,...:unlisted`: `pg_current_snapshot()`, and how many transactions have begun from xmax on.
 * A snapshot lists those that are open only up to the last one that has ended.
 */
export function parseSnapshot(text: string, rank: bigint): Snapshot {
  const [, listedTo = "0", listed = "", unlisted = "0"] = text.split(":")
  const from = BigInt(listedTo)
  const next = from + BigInt(unlisted)
  const open = new Set(listed === "" ? [] : listed.split(",").map(BigInt))
  for (let each = from; each < next && each < from + MOST_UNLISTED; each += 1n) open.add(each)
  return { rank, next, open }
}

type Marks = ReadonlyMap<string, bigint>

/** How far somebody has come, for another that begins there. */
export interface Reached {
  /** Whatever turns up for the first time stands above, but for what `late` brings. */
  readonly marks: Marks
  /** Transactions that have been open for long. */
  readonly late: readonly bigint[]
  /** The rank of the moment at which it was so. */
  readonly rank: bigint
}

interface Open {
  /** The marks at the last look before it was seen. */
  readonly earlier: Marks
  /** The rank of the moment at which it was first seen. */
  readonly since: bigint
}

export interface LowWater {
  /** Begins where another has come to, before anything else is done. */
  readonly begin: (reached: Reached) => void
  /** Where to begin in this lane. */
  readonly from: (lane: string) => bigint
  /** Below this rank nothing is looked for in this lane, unless somebody tells of it. */
  readonly mark: (lane: string) => bigint
  readonly reached: () => Reached
  /** Everything below this rank has been taken, as far as could be seen. */
  readonly pass: (lane: string, rank: bigint) => void
  /** These lanes have been gone through from end to end since the last look: all of them is passed that it could see. */
  readonly passAll: (lanes: Iterable<string>) => void
  /** Something became ready with this rank. */
  readonly wake: (lane: string, rank: bigint) => void
  /** Goes back to where transactions that have ended since the last look may have left something. */
  readonly look: (snapshot: Snapshot) => void
  /** Begins again at the bottom. */
  readonly reset: () => void
}

export function createLowWater(): LowWater {
  let marks = new Map<string, bigint>()
  /**
   * The lowest rank that was told of in each lane since it was last begun in. Not in the marks at once: a claim that is
   * under way would pass over it when it returns.
   */
  const woken = new Map<string, bigint>()
  /** The marks at the last look. */
  let before: Marks = new Map()
  const open = new Map<bigint, Open>()
  /** The rank of the last look of our own. */
  let lastRank = BOTTOM
  /** The same, also if it was the look of whom we have begun from. */
  let clock = BOTTOM

  function goBackTo(earlier: Marks): void {
    for (const [lane, rank] of marks) marks.set(lane, least(rank, earlier.get(lane) ?? BOTTOM))
  }

  function pass(lane: string, rank: bigint): void {
    const now = marks.get(lane) ?? BOTTOM
    if (rank > now) marks.set(lane, rank)
  }

  return {
    begin: (reached) => {
      marks = new Map(reached.marks)
      before = reached.marks
      for (const transaction of reached.late) open.set(transaction, { earlier: new Map(), since: BOTTOM })
      clock = reached.rank
    },
    mark: (lane) => marks.get(lane) ?? BOTTOM,
    reached: () => {
      const isLate = ({ since }: Open) => clock - since > LONG_OPEN
      const inTime = [...open.values()].filter((each) => !isLate(each)).map(({ earlier }) => earlier)
      const lowest = (lane: string, rank: bigint) =>
        [before, ...new Set(inTime)].reduce(
          (low, earlier) => least(low, earlier.get(lane) ?? BOTTOM),
          least(rank, woken.get(lane) ?? rank),
        )
      return {
        marks: new Map([...marks].map(([lane, rank]) => [lane, lowest(lane, rank)])),
        late: [...open].filter(([, each]) => isLate(each)).map(([transaction]) => transaction),
        rank: clock,
      }
    },
    from: (lane) => {
      const rank = woken.get(lane)
      if (woken.delete(lane) && rank !== undefined) {
        const now = marks.get(lane)
        if (now !== undefined) marks.set(lane, least(now, rank))
      }
      return marks.get(lane) ?? BOTTOM
    },
    pass,
    passAll: (lanes) => {
      for (const lane of lanes) pass(lane, lastRank - SLACK)
    },
    wake: (lane, rank) => {
      // Lanes that nobody claims from are never begun in; what is forgotten here is found by looking.
      if (woken.size >= MOST_WOKEN) woken.clear()
      woken.set(lane, least(rank, woken.get(lane) ?? rank))
    },
    look: (snapshot) => {
      const passed = [...marks]
      // A clock that was set back gives ranks again that have been passed, also to what is open.
      if (snapshot.rank < clock) {
        marks = new Map()
        before = new Map()
        for (const transaction of open.keys())
          open.set(transaction, { earlier: before, since: snapshot.rank })
      }
      // Transactions that came and went since the last look are in no list: they all began after it.
      goBackTo(before)
      for (const [transaction, { earlier }] of open) {
        if (snapshot.open.has(transaction)) continue
        goBackTo(earlier)
        open.delete(transaction)
      }
      for (const transaction of snapshot.open) {
        if (!open.has(transaction)) open.set(transaction, { earlier: before, since: snapshot.rank })
      }
      lastRank = snapshot.rank
      clock = snapshot.rank
      before = new Map(passed.map(([lane, rank]) => [lane, least(rank, snapshot.rank - SLACK)]))
    },
    reset: () => {
      marks = new Map()
    },
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
