/**
 * Keeps a low-water mark per lane: the rank at which the next claim starts, so that claims skip dead index entries.
 *
 * Ready runs are ordered by rank, the time at which they became ready. A claim that took everything up to a rank, or
 * found nothing left there, moves the mark up. Two kinds of runs can still appear below the mark:
 *
 * - Runs of a transaction that was open when the mark passed them. It had not committed, or it held row locks. The mark
 *   therefore records the open transactions at each snapshot. When one of them ends, the mark goes back to where it was
 *   before that transaction was first seen.
 * - Runs that a wake-up announces with their rank.
 *
 * The mark can miss two kinds of runs: a run that is locked again just when the mark has come back for it, and a run
 * that became ready while the clock was set back by less than the time between two snapshots. A claim from `BOTTOM`
 * finds them.
 */

/** Before every rank. */
export const BOTTOM = -(2n ** 63n)
/** After every rank. */
export const TOP = 2n ** 63n - 1n

/** In microseconds, as ranks. A statement reads the clock shortly before its transaction becomes visible. */
const SLACK = 100_000n
/** In microseconds. A transaction open for longer may stay open for hours. It must not hold back new processes. */
const LONG_OPEN = 10_000_000n
/** Bounds the memory. No installation has more lanes. */
const MOST_WOKEN = 1_000
/** No server has more connections. */
const MOST_UNLISTED = 10_000n

/** The open transactions at one moment. */
export interface Snapshot {
  /** The rank of that moment. */
  readonly rank: bigint
  /** The first transaction id not assigned yet. */
  readonly next: bigint
  readonly open: ReadonlySet<bigint>
}

/**
 * Parses `xmin:xmax:xip,xip,...:unlisted`: the text of `pg_current_snapshot()`, then the number of transactions from
 * xmax on that have begun. A PostgreSQL snapshot lists open transactions below xmax only.
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

/** The marks of one process, which a new process may start from. */
export interface Reached {
  /** New runs appear above these marks, except those of the transactions in `late`. */
  readonly marks: Marks
  /** Transactions that have been open for long. */
  readonly late: readonly bigint[]
  /** The rank of the moment at which this was true. */
  readonly rank: bigint
}

interface Open {
  /** The marks at the last snapshot before the transaction was first seen. */
  readonly earlier: Marks
  /** The rank of the moment at which it was first seen. */
  readonly since: bigint
}

export interface LowWater {
  /** Starts from the marks of another process. Called before any other method. */
  readonly begin: (reached: Reached) => void
  /** The rank at which the next claim in this lane starts. Takes wake-ups into account. */
  readonly from: (lane: string) => bigint
  /** The mark of a lane, without wake-ups. */
  readonly mark: (lane: string) => bigint
  readonly reached: () => Reached
  /** Reports that no visible run is left below this rank. */
  readonly pass: (lane: string, rank: bigint) => void
  /** Reports that claims since the last snapshot read these lanes to the end. */
  readonly passAll: (lanes: Iterable<string>) => void
  /** Reports that a run became ready with this rank. */
  readonly wake: (lane: string, rank: bigint) => void
  /** Moves the marks back for transactions that have ended since the last snapshot. */
  readonly look: (snapshot: Snapshot) => void
  /** Starts all lanes at `BOTTOM` again. */
  readonly reset: () => void
}

export function createLowWater(): LowWater {
  let marks = new Map<string, bigint>()
  /**
   * The lowest rank of a wake-up in each lane since the last claim there. Kept apart from the marks, because a claim in
   * progress would move the mark past it when it returns.
   */
  const woken = new Map<string, bigint>()
  /** The marks at the last snapshot. */
  let before: Marks = new Map()
  const open = new Map<bigint, Open>()
  /** The rank of the last snapshot of this process. */
  let lastRank = BOTTOM
  /** The rank of the last snapshot, of this process or of the process whose marks it started from. */
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
      // No claim clears the entries of unused lanes. Clearing all is safe: polling finds the runs.
      if (woken.size >= MOST_WOKEN) woken.clear()
      woken.set(lane, least(rank, woken.get(lane) ?? rank))
    },
    look: (snapshot) => {
      const passed = [...marks]
      // The clock was set back, so new runs get ranks that the marks have passed.
      if (snapshot.rank < clock) {
        marks = new Map()
        before = new Map()
        for (const transaction of open.keys())
          open.set(transaction, { earlier: before, since: snapshot.rank })
      }
      // Transactions that began and ended since the last snapshot are in no list. All of them began after it.
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
