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
import { forgetEndedClaims } from "../store/claims/forget-ended.ts"
import { isUncertain } from "../store/database-error.ts"
import { claimRuns } from "../store/runs/claim.ts"
import { lookAround } from "../store/runs/look.ts"
import type { Statement } from "../store/statement.ts"
import type { ClaimDoubts } from "./claim-doubts.ts"
import type { ClaimLedger } from "./claim-ledger.ts"
import { type ClaimedRun, claimedRun, claimNameOf, type Fence } from "./claimed-run.ts"
import type { ReadyLane } from "./lane.ts"
import { createLanes } from "./lanes.ts"
import type { Lease } from "./lease.ts"

export interface Claimer {
  /** Runs in the order in which they should start, from where the last claim ended. None of `except`. */
  readonly claim: (wanted: Wanted) => Promise<Claim>
  /** Whether it is time to look for what may have turned up beside the wake-ups; sooner if the last claim was short. */
  readonly isSearchDue: (wasShort: boolean) => boolean
  /** Looks for it, and claims what there is, from the bottom if that is worth its time. */
  readonly search: (wanted: Wanted) => Promise<Claim>
  /** Something became ready; `undefined`: something may have been missed, anywhere. */
  readonly wake: (lane: ReadyLane | undefined) => void
  /** Whether there may be runs that must not be claimed ahead of free slots. */
  readonly hasSolos: () => boolean
  /** Takes away the notes of claims that have ended, if there are many. */
  readonly forgetEnded: () => Promise<void>
  /** Asks for nothing more, not even by what waits for a connection. */
  readonly close: () => void
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
  readonly claims: ClaimLedger
  readonly doubts: ClaimDoubts
}

const NOTHING: Claim = { runs: [], isEmpty: false }

type Row = typeof claimRuns extends Statement<infer _, infer R> ? R : never

const LOOK_EVERY_MS = 500
/** A claim from the bottom that took a millisecond may be repeated after so many. */
const BOTTOM_SHARE = 50
/** However quick it was: what is woken meanwhile has to wait for it. */
const BOTTOM_REST_MS = 200
/** However busy the pool is, it is looked through from the bottom this often. */
const BOTTOM_AT_LEAST_MS = 60_000
/** So that low priorities are never starved, every so many claims begin with them. */
const LOWEST_FIRST_EVERY = 16

export function createClaimer({ runtime, pool, jobs, lease, claims: ledger, doubts }: ClaimerParts): Claimer {
  const { database, monotonicMs } = runtime
  const names = [...jobs.keys()]
  const lanes = createLanes()
  let claims = 0
  let lookAtMs = 0
  let bottomAtMs = 0
  let bottomAtLastMs = 0
  /** How often something may have been missed. */
  let alarms = 0
  const closed = new AbortController()
  const call = { unless: closed.signal }

  /** Learns what has changed beside the wake-ups. */
  async function look(): Promise<void> {
    for (;;) {
      const rows = await database.run(lookAround, { pool, ...lanes.gaps() }, call)
      const [first] = rows
      if (first) lanes.look(parseSnapshot(first.snapshot, first.rank))
      lookAtMs = monotonicMs() + LOOK_EVERY_MS
      const found = rows.flatMap(({ solo, priority }) =>
        solo === null || priority === null ? [] : [{ solo, priority }],
      )
      // One lane per gap was found; there may be more behind it. Those that are too many are met again later.
      const areTooMany = found.map((lane) => lanes.learn(lane)).includes(false)
      if (found.length === 0 || areTooMany) return
    }
  }

  async function take({ limit, free, except }: Wanted): Promise<ClaimedRun[]> {
    claims += 1
    const lowestFirst = claims % LOWEST_FIRST_EVERY === 0
    const order = lanes.order({ limit, free, lowestFirst })
    if (order.solos.length === 0) return []
    const mine = { lease: lease.id(), claim: runtime.randomBits() }
    const rows = await database
      .run(claimRuns, { ...mine, pool, jobs: names, except, ...order, limit }, call)
      .catch((error: unknown) => {
        if (isUncertain(error)) doubts.add(mine)
        throw error
      })
    inOrder(rows)
    // The last of each lane is as far as it was passed.
    rows.forEach((row, index) => {
      const next = rows[index + 1]
      if (!next || next.priority !== row.priority || next.solo !== row.solo) lanes.pass(row, row.rank)
    })
    // Lost while we claimed: these runs will be reaped with the rest of the old lease.
    if (lease.id() !== mine.lease) return []
    if (rows.length > 0) ledger.open(mine, rows.length)
    return runsOf(rows, mine)
  }

  async function fromBottom(wanted: Wanted): Promise<Claim> {
    const startedAtMs = monotonicMs()
    const leaseBefore = lease.id()
    const alarmsBefore = alarms
    await look()
    lanes.reset()
    const [asked, most] = [
      lanes.names(),
      lanes.hasSolos() ? Math.min(wanted.limit, wanted.free) : wanted.limit,
    ]
    const runs = await take(wanted)
    const endedAtMs = monotonicMs()
    bottomAtMs = endedAtMs + Math.max(BOTTOM_REST_MS, BOTTOM_SHARE * (endedAtMs - startedAtMs))
    const isAlarmed = alarms !== alarmsBefore
    bottomAtLastMs = isAlarmed ? 0 : endedAtMs + BOTTOM_AT_LEAST_MS
    // Under a lease that is over nothing can be claimed, however much there is.
    const isMine = lease.id() === leaseBefore && lease.remainingMs() > 0
    const isAll = runs.length < most && isMine && !isAlarmed
    // What is left is running, or not for us, and need not be walked over again.
    if (isAll && wanted.except.length === 0) lanes.passAll(asked)
    // What was left out may be there, and nobody tells of it.
    return { runs, isEmpty: isAll && runs.length === 0 && wanted.except.length === 0 }
  }

  return {
    claim: async (wanted) => {
      await doubts.resolve()
      if (monotonicMs() >= bottomAtLastMs) return fromBottom(wanted)
      return { runs: await take(wanted), isEmpty: false }
    },
    isSearchDue: (wasShort) => monotonicMs() >= (wasShort ? Math.min(lookAtMs, bottomAtMs) : lookAtMs),
    search: async (wanted) => {
      if (monotonicMs() >= lookAtMs) await look()
      if (wanted.limit <= 0) return NOTHING
      const runs = await take(wanted)
      return runs.length > 0 || monotonicMs() < bottomAtMs ? { runs, isEmpty: false } : fromBottom(wanted)
    },
    wake: (lane) => {
      if (lane) lanes.wake(lane)
      else {
        alarms += 1
        bottomAtLastMs = 0
      }
    },
    hasSolos: lanes.hasSolos,
    forgetEnded: async () => {
      if (!ledger.hasManyEnded()) return
      const mine = lease.id()
      const claims = ledger.takeEnded(mine)
      if (claims.length === 0) return
      await database.run(forgetEndedClaims, { lease: mine, claims }, call).catch((error: unknown) => {
        ledger.putBack(mine, claims)
        if (!closed.signal.aborted) throw error
      })
    },
    close: () => closed.abort(),
  }

  function runsOf(rows: Row[], fence: Fence): ClaimedRun[] {
    const claimedAtMs = monotonicMs()
    const claimName = claimNameOf(fence)
    return rows.flatMap((row) => {
      const job = jobs.get(row.job)
      return job ? [claimedRun({ row, fence, claimName, job, pool, claimedAtMs })] : []
    })
  }
}

/** `returning` gives the order of the table. */
function inOrder(rows: Row[]): void {
  rows.sort((a, b) => b.priority - a.priority || compare(a.rank, b.rank) || (a.id < b.id ? -1 : 1))
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
