/**
 * The lanes of one pool that a claimer knows: their priorities, where to begin in each, and the gaps between them in
 * which other lanes may be.
 */
import { BOTTOM, createLowWater, type Reached, type Snapshot, TOP } from "../../queue/low-water.ts"
import { type Lane, laneKey, type ReadyLane } from "./lane.ts"

type PoolLane = Pick<Lane, "solo" | "priority">

/** How far the claims of a process have come in each lane. */
export interface LanesReached extends Omit<Reached, "marks"> {
  readonly lanes: readonly (PoolLane & { readonly rank: bigint })[]
}

export interface Lanes {
  /** Begins at the marks that another process has recorded. Must be the first call. */
  readonly begin: (reached: LanesReached) => void
  /** False if too many lanes were known. Then all but this one are forgotten. */
  readonly learn: (lane: PoolLane) => boolean
  readonly wake: (lane: ReadyLane) => void
  readonly pass: (lane: PoolLane, rank: bigint) => void
  /** The names of all known lanes. */
  readonly names: () => string[]
  /** Claims have gone through these lanes from end to end since the last look. */
  readonly passAll: (names: readonly string[]) => void
  readonly look: (snapshot: Snapshot) => void
  /** Does a lane hold runs that must not be claimed ahead? */
  readonly hasSolos: () => boolean
  /** The lanes in the order of claims, each with its start and the number of runs to take. */
  readonly order: (wanted: LaneOrder) => LaneParams
  /** The same lanes from the bottom up to where those of `order` begin. */
  readonly passed: (wanted: LaneOrder) => LaneParams
  readonly reached: () => LanesReached
  /** The gaps between known priorities. */
  readonly gaps: () => GapParams
}

export interface LaneOrder {
  /** How many runs a claim may take. */
  readonly limit: number
  /** Free slots: the most that a claim takes from solo lanes. */
  readonly free: number
  readonly lowestFirst: boolean
}

export interface LaneParams {
  readonly solos: boolean[]
  readonly priorities: number[]
  readonly froms: bigint[]
  readonly tos: bigint[]
  readonly mosts: number[]
}

export interface GapParams {
  readonly solos: boolean[]
  readonly aboves: bigint[]
  readonly belows: bigint[]
}

/** The ranks from `from` up to `to`. */
interface Span {
  readonly from: bigint
  readonly to: bigint
}

/** Beyond every priority. */
const EDGE = 2n ** 40n
/** More priorities than a sensible program uses. Beyond that, all lanes are forgotten and found again one by one. */
const MOST_LANES = 64

export function createLanes(): Lanes {
  const lowWater = createLowWater()
  const known = new Map<string, PoolLane>()
  let solos = 0

  function learn({ solo, priority }: PoolLane): boolean {
    const key = laneKey({ solo, priority })
    if (known.has(key)) return true
    const areTooMany = known.size >= MOST_LANES
    if (areTooMany) {
      known.clear()
      solos = 0
      // Otherwise the marks of forgotten lanes would stay for ever.
      lowWater.reset()
    }
    known.set(key, { solo, priority })
    if (solo) solos += 1
    return !areTooMany
  }

  function order(span: (lane: string) => Span, { limit, free, lowestFirst }: LaneOrder): LaneParams {
    const lanes = [...known.values()]
      .filter(({ solo }) => (solo ? free > 0 : limit > 0))
      .sort((a, b) => b.priority - a.priority || Number(b.solo) - Number(a.solo))
      .map(({ solo, priority }) => ({ solo, priority, ...span(laneKey({ solo, priority })) }))
      .filter(({ from, to }) => from < to)
    if (lowestFirst) lanes.reverse()
    return {
      solos: lanes.map(({ solo }) => solo),
      priorities: lanes.map(({ priority }) => priority),
      froms: lanes.map(({ from }) => from),
      tos: lanes.map(({ to }) => to),
      mosts: lanes.map(({ solo }) => (solo ? Math.min(free, limit) : limit)),
    }
  }

  return {
    begin: ({ lanes, ...reached }) => {
      for (const lane of lanes) learn(lane)
      lowWater.begin({ ...reached, marks: new Map(lanes.map((lane) => [laneKey(lane), lane.rank])) })
    },
    learn,
    wake: (lane) => {
      learn(lane)
      lowWater.wake(laneKey(lane), lane.rank)
    },
    pass: (lane, rank) => lowWater.pass(laneKey(lane), rank),
    names: () => [...known.keys()],
    passAll: lowWater.passAll,
    look: lowWater.look,
    hasSolos: () => solos > 0,
    order: (wanted) => order((lane) => ({ from: lowWater.from(lane), to: TOP }), wanted),
    passed: (wanted) => order((lane) => ({ from: BOTTOM, to: lowWater.mark(lane) }), wanted),
    reached: () => {
      const { marks, ...reached } = lowWater.reached()
      const lanes = [...known]
        .map(([key, lane]) => ({ ...lane, rank: marks.get(key) ?? BOTTOM }))
        .filter(({ rank }) => rank > BOTTOM)
      return { ...reached, lanes }
    },
    gaps: () => {
      const gaps = [false, true].flatMap((solo) => {
        const priorities = [...known.values()]
          .filter((lane) => lane.solo === solo)
          .map((lane) => lane.priority)
        const edges = [-EDGE, ...priorities.sort((a, b) => a - b).map(BigInt), EDGE]
        return edges.slice(1).map((below, index) => ({ solo, above: edges[index] ?? -EDGE, below }))
      })
      return {
        solos: gaps.map(({ solo }) => solo),
        aboves: gaps.map(({ above }) => above),
        belows: gaps.map(({ below }) => below),
      }
    },
  }
}
