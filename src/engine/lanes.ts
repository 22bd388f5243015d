/**
 * The lanes of one pool as a claimer knows them: which priorities there are, where to begin in each, and which gaps
 * between them to look into for more.
 */
import { createLowWater, type Snapshot } from "../queue/low-water.ts"
import { type Lane, laneKey, type ReadyLane } from "./lane.ts"

type PoolLane = Pick<Lane, "solo" | "priority">

export interface Lanes {
  /** False if there were too many to know, so that all but this one are forgotten. */
  readonly learn: (lane: PoolLane) => boolean
  readonly wake: (lane: ReadyLane) => void
  readonly pass: (lane: PoolLane, rank: bigint) => void
  /** By their names. */
  readonly names: () => string[]
  /** These have been gone through from end to end since the last look. */
  readonly passAll: (names: readonly string[]) => void
  readonly look: (snapshot: Snapshot) => void
  /** Whether any of them holds runs that must not be claimed ahead. */
  readonly hasSolos: () => boolean
  /** Begins again at the bottom of every lane. */
  readonly reset: () => void
  /** In the order of claims, each with where to begin and how many to take of it. */
  readonly order: (wanted: LaneOrder) => LaneParams
  /** Between which priorities nobody has looked yet. */
  readonly gaps: () => GapParams
}

export interface LaneOrder {
  /** How many may be claimed ahead of free slots. */
  readonly limit: number
  /** How many slots are free: the most that solo lanes give. */
  readonly free: number
  readonly lowestFirst: boolean
}

export interface LaneParams {
  readonly solos: boolean[]
  readonly priorities: number[]
  readonly froms: bigint[]
  readonly mosts: number[]
}

export interface GapParams {
  readonly solos: boolean[]
  readonly aboves: bigint[]
  readonly belows: bigint[]
}

/** Beyond every priority. */
const EDGE = 2n ** 40n
/** More priorities than anyone means: then all are forgotten and found again as they are met. */
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
    }
    known.set(key, { solo, priority })
    if (solo) solos += 1
    return !areTooMany
  }

  return {
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
    reset: lowWater.reset,
    order: ({ limit, free, lowestFirst }) => {
      const lanes = [...known.values()]
        .filter(({ solo }) => (solo ? free > 0 : limit > 0))
        .sort((a, b) => b.priority - a.priority || Number(b.solo) - Number(a.solo))
      if (lowestFirst) lanes.reverse()
      return {
        solos: lanes.map(({ solo }) => solo),
        priorities: lanes.map(({ priority }) => priority),
        froms: lanes.map((lane) => lowWater.from(laneKey(lane))),
        mosts: lanes.map(({ solo }) => (solo ? Math.min(free, limit) : limit)),
      }
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
