/**
 * Claims runs for one pool: from where the last claim ended, and now and then from the bottom.
 *
 * Beginning at a low-water mark keeps a claim cheap, however many runs have gone through the pool while an old
 * snapshot keeps their index entries. The mark is no more than a hint: a look at the open transactions, twice a
 * second, moves it back to where something may have turned up, and whatever was overlooked is found from the bottom,
 * as often as that is worth at most a fiftieth of the time.
 */
import type { AnyJob } from "../job/define.ts"
import { parseSnapshot } from "../queue/low-water.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { isUncertain } from "../store/database-error.ts"
import { claimRuns } from "../store/runs/claim.ts"
import { lookAround } from "../store/runs/look.ts"
import type { Statement } from "../store/statement.ts"
import type { ClaimDoubts } from "./claim-doubts.ts"
import { type ClaimedRun, claimedRun, claimNameOf, type Fence } from "./claimed-run.ts"
import type { ReadyLane } from "./lane.ts"
import { createLanes } from "./lanes.ts"
import type { Lease } from "./lease.ts"

export interface Claimer {
  /** Runs in the order in which they should start. None of `except`. */
  readonly claim: (wanted: Wanted) => Promise<Claim>
  /** Something became ready; `undefined`: something may have been missed, anywhere. */
  readonly wake: (lane: ReadyLane | undefined) => void
}

export interface Wanted {
  readonly limit: number
  /** How many slots are free: no more solo runs than that. */
  readonly free: number
  /** Runs whose handlers from an earlier lease still go on in this process. */
  readonly except: readonly string[]
}

export interface Claim {
  readonly runs: readonly ClaimedRun[]
  /** The pool was looked through from the bottom, and there was nothing. */
  readonly isEmpty: boolean
}

export interface ClaimerParts {
  readonly runtime: Runtime
  readonly pool: string
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly lease: Lease
  readonly doubts: ClaimDoubts
}

type Row = typeof claimRuns extends Statement<infer _, infer R> ? R : never

const LOOK_EVERY_MS = 500
/** A claim from the bottom that took a millisecond may be repeated after so many. */
const BOTTOM_SHARE = 50
/** However busy the pool is, it is looked through from the bottom this often. */
const BOTTOM_AT_LEAST_MS = 60_000
/** So that low priorities are never starved, every so many claims begin with them. */
const LOWEST_FIRST_EVERY = 16

export function createClaimer({ runtime, pool, jobs, lease, doubts }: ClaimerParts): Claimer {
  const { database, monotonicMs } = runtime
  const names = [...jobs.keys()]
  const lanes = createLanes()
  let claims = 0
  let lookAtMs = 0
  let bottomAtMs = 0
  let bottomAtLastMs = 0

  /** Learns what has changed beside the wake-ups. */
  async function look(): Promise<void> {
    for (;;) {
      const rows = await database.run(lookAround, { pool, ...lanes.gaps() })
      const [first] = rows
      if (first) lanes.look(parseSnapshot(first.snapshot, first.rank))
      lookAtMs = monotonicMs() + LOOK_EVERY_MS
      const found = rows.flatMap(({ solo, priority }) =>
        solo === null || priority === null ? [] : [{ solo, priority }],
      )
      for (const lane of found) lanes.learn(lane)
      // One lane per gap was found; there may be more behind it.
      if (found.length === 0) return
    }
  }

  async function take({ limit, free, except }: Wanted): Promise<ClaimedRun[]> {
    claims += 1
    const lowestFirst = claims % LOWEST_FIRST_EVERY === 0
    const order = lanes.order({ limit, free, lowestFirst })
    if (order.solos.length === 0) return []
    const mine = { lease: lease.id(), claim: runtime.randomBits() }
    const rows = await database
      .run(claimRuns, { ...mine, pool, jobs: names, except, ...order, limit })
      .catch((error: unknown) => {
        if (isUncertain(error)) doubts.add(mine)
        throw error
      })
    for (const row of rows) lanes.pass(row, row.rank)
    // Lost while we claimed: these runs will be reaped with the rest of the old lease.
    if (lease.id() !== mine.lease) return []
    return runsOf(rows, mine)
  }

  async function takeFromBottom(wanted: Wanted): Promise<ClaimedRun[]> {
    const startedAtMs = monotonicMs()
    lanes.reset()
    await look()
    const rows = await take(wanted)
    const endedAtMs = monotonicMs()
    bottomAtMs = endedAtMs + BOTTOM_SHARE * (endedAtMs - startedAtMs)
    bottomAtLastMs = endedAtMs + BOTTOM_AT_LEAST_MS
    return rows
  }

  return {
    claim: async (wanted) => {
      await doubts.resolve()
      if (monotonicMs() >= bottomAtLastMs) {
        const runs = await takeFromBottom(wanted)
        return { runs, isEmpty: runs.length === 0 }
      }
      if (monotonicMs() >= lookAtMs) await look()
      const runs = await take(wanted)
      if (runs.length >= wanted.limit || monotonicMs() < bottomAtMs) return { runs, isEmpty: false }
      const { limit, free, except } = wanted
      const left = { limit: limit - runs.length, free: Math.max(0, free - runs.length), except }
      // What was just taken must not be given up because the rest could not be asked for.
      const more = await takeFromBottom(left).catch(() => undefined)
      return { runs: [...runs, ...(more ?? [])], isEmpty: runs.length === 0 && more?.length === 0 }
    },
    wake: (lane) => {
      if (lane) lanes.wake(lane)
      else bottomAtLastMs = 0
    },
  }

  function runsOf(rows: Row[], fence: Fence): ClaimedRun[] {
    const claimedAtMs = monotonicMs()
    const claimName = claimNameOf(fence)
    rows.sort((a, b) => b.priority - a.priority || compare(a.rank, b.rank) || (a.id < b.id ? -1 : 1))
    return rows.flatMap((row) => {
      const job = jobs.get(row.job)
      return job ? [claimedRun({ row, fence, claimName, job, pool, claimedAtMs })] : []
    })
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
