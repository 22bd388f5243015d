/**
 * Claims runs for one pool: from where the last claim ended, and beside that, now and then, what was passed.
 *
 * Beginning at a low-water mark keeps a claim cheap, however many runs have gone through the pool while an old
 * snapshot keeps their index entries. The mark is no more than a hint: a look at the open transactions, twice a
 * second, moves it back to where something may have turned up, and whatever was overlooked is found by a sweep from
 * the bottom up to it, as often as that is worth a fiftieth of the time, and after ten minutes at the latest. A sweep may
 * take long, and nothing waits for it. Whoever starts begins where others have come to.
 */
import type { AnyJob } from "../../job/define.ts"
import { parseSnapshot } from "../../queue/low-water.ts"
import { restAfter, WALK_DEADLINE_MS } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { forgetEndedClaims } from "../../store/claims/forget-ended.ts"
import type { CallOptions } from "../../store/database.ts"
import { isUncertain } from "../../store/database-error.ts"
import { findLowWater } from "../../store/low-water/find.ts"
import { recordLowWater } from "../../store/low-water/record.ts"
import { claimRuns } from "../../store/runs/claim.ts"
import { lookAround } from "../../store/runs/look.ts"
import type { Statement } from "../../store/statement.ts"
import type { Lease } from "../process/lease.ts"
import type { ClaimDoubts } from "./claim-doubts.ts"
import type { ClaimLedger } from "./claim-ledger.ts"
import { type ClaimedRun, claimedRun, claimNameOf, type Fence } from "./claimed-run.ts"
import type { ReadyLane } from "./lane.ts"
import { createLanes, type LaneParams } from "./lanes.ts"

export interface Claimer {
  /** Gives back what claims may have taken whose answers were lost. */
  readonly resolveDoubts: () => Promise<void>
  /** Runs in the order in which they should start, from where the last claim ended. None of `except`. */
  readonly claim: (wanted: Wanted) => Promise<Claim>
  /** Whether it is time to look for what may have turned up beside the wake-ups; sooner if the last claim was short. */
  readonly isSearchDue: (wasShort: boolean) => boolean
  /** Looks for it, and claims what there is. */
  readonly search: (wanted: Wanted) => Promise<Claim>
  /** Whether it is time to look through what was passed; sooner if nothing else was found. */
  readonly isSweepDue: (wasEmpty: boolean) => boolean
  /** Claims what was passed and is there all the same. May take long; claims go on beside it. */
  readonly sweep: (wanted: Wanted) => Promise<Claim>
  /** Something became ready; `undefined`: something may have been missed, anywhere. */
  readonly wake: (lane: ReadyLane | undefined) => void
  /** Whether there may be runs that must not be claimed ahead of free slots. */
  readonly hasSolos: () => boolean
  /** Takes away the notes of claims that have ended, if there are many. */
  readonly forgetEnded: () => Promise<void>
  /** Whether it is far from where it last said how far it has come. */
  readonly isLowWaterDue: () => boolean
  /** Says how far it has come, for those who start after it. */
  readonly recordLowWater: () => Promise<void>
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
  /** All that was passed has been looked through, and there was nothing. */
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

interface Taken {
  readonly rows: readonly Row[]
  readonly runs: readonly ClaimedRun[]
}

type Row = typeof claimRuns extends Statement<infer _, infer R> ? R : never

const LOOK_EVERY_MS = 500
/** Between sweeps, however quick they are. */
const SWEEP_REST_MS = 200
/** However busy the pool is, what was passed is swept this often, unless that takes too long. */
const SWEEP_AT_LEAST_MS = 60_000
/** How much of what was passed a sweep has seen. */
type Swept = "all" | "some" | "cut off"
/** How long the next can wait in a busy pool, of what the share of the time allows: where some were left, somebody waits. */
const BUSY_REST: Readonly<Record<Swept, (restMs: number) => number>> = {
  all: (restMs) => Math.max(restMs, SWEEP_AT_LEAST_MS),
  some: (restMs) => Math.min(restMs, SWEEP_AT_LEAST_MS),
  "cut off": (restMs) => restMs,
}
/** One that begins where others have come to, and is busy at once, sweeps after about this time. */
const FIRST_SWEEP_MS = 15_000
/** What is worth telling those who start: so many runs further, and not more often than this. */
const MANY_TAKEN = 1_000
const RECORD_EVERY_MS = 5_000
/** So that low priorities are never starved, every so many claims begin with them. */
const LOWEST_FIRST_EVERY = 16

export function createClaimer({ runtime, pool, jobs, lease, claims: ledger, doubts }: ClaimerParts): Claimer {
  const { database, monotonicMs } = runtime
  const names = [...jobs.keys()].sort()
  const lanes = createLanes()
  let hasBegun = false
  /** Until then claims may begin at the bottom. */
  let hasClaimed = false
  let claims = 0
  let lookAtMs = 0
  let sweepAtMs = 0
  let sweepAtLastMs = 0
  /** How often something may have been missed, and how often that had been so when it was last looked for. */
  let alarms = 0
  let alarmsAtLook = 0
  /** Whether the database took our lease for a live one at the last look: its clock may have jumped past what it knew. */
  let isLeaseLive = true
  /** Runs, since it was last said how far this claimer has come. */
  let takenSince = 0
  let recordAtMs = 0
  const closed = new AbortController()
  const call = { unless: closed.signal }
  const patiently = { ...call, deadlineMs: WALK_DEADLINE_MS }

  async function begin(): Promise<void> {
    const alarmsBefore = alarms
    const reached = await database.run(findLowWater, { pool, jobs: names }, call)
    const [first] = reached
    if (first) {
      const late = first.late.split(",").filter(Boolean).map(BigInt)
      lanes.begin({ lanes: reached, late, rank: first.clock })
      // Not all at once when many start together.
      const firstSweepAtMs = monotonicMs() + FIRST_SWEEP_MS * (0.5 + runtime.random())
      if (alarms === alarmsBefore) sweepAtLastMs = firstSweepAtMs
    }
    // With no place to begin at, this goes over everything.
    await look(patiently)
    hasBegun = true
  }

  /** Something may have been missed, anywhere. */
  function alarm(): void {
    alarms += 1
    lookAtMs = 0
    sweepAtLastMs = 0
  }

  /** Learns what has changed beside the wake-ups. */
  async function look(how: CallOptions = call): Promise<void> {
    for (;;) {
      alarmsAtLook = alarms
      const rows = await database.run(lookAround, { lease: lease.id(), pool, ...lanes.gaps() }, how)
      const [first] = rows
      if (first) {
        lanes.look(parseSnapshot(first.snapshot, first.rank))
        // Until now claims have found nothing, whatever there was, and may have passed it.
        if (first.is_held && !isLeaseLive) alarm()
        isLeaseLive = first.is_held
      }
      lookAtMs = monotonicMs() + LOOK_EVERY_MS
      const found = rows.flatMap(({ solo, priority }) =>
        solo === null || priority === null ? [] : [{ solo, priority }],
      )
      // One lane per gap was found; there may be more behind it. Those that are too many are met again later.
      const areTooMany = found.map((lane) => lanes.learn(lane)).includes(false)
      if (found.length === 0 || areTooMany) return
    }
  }

  /** Claims in these lanes; `undefined`: the lease was lost meanwhile. */
  async function take(
    order: LaneParams,
    { limit, except }: Wanted,
    how: CallOptions = call,
  ): Promise<Taken | undefined> {
    if (order.solos.length === 0) return { rows: [], runs: [] }
    const mine = { lease: lease.id(), claim: runtime.randomBits() }
    const rows = await database
      .run(claimRuns, { ...mine, pool, jobs: names, except, ...order, limit }, how)
      .catch((error: unknown) => {
        if (isUncertain(error)) doubts.add(mine)
        throw error
      })
    inOrder(rows)
    // Lost while we claimed: these runs will be reaped with the rest of the old lease.
    if (lease.id() !== mine.lease) return undefined
    if (rows.length > 0) ledger.open(mine, rows.length)
    return { rows, runs: runsOf(rows, mine) }
  }

  /** A claim that brings so many may have left some. Asked before it: lanes may be forgotten meanwhile. */
  function mostOf({ limit, free }: Wanted): number {
    return lanes.hasSolos() ? Math.min(limit, free) : limit
  }

  /** Whether it has left nothing that it could have had. Under a lease that is over nothing can be. */
  function isAll(count: number, most: number, { except }: Wanted): boolean {
    return count < most && except.length === 0 && isLeaseLive && lease.remainingMs() > 0
  }

  async function takeOn(wanted: Wanted): Promise<Claim> {
    claims += 1
    const [asked, most, alarmsBefore] = [lanes.names(), mostOf(wanted), alarms]
    const lowestFirst = claims % LOWEST_FIRST_EVERY === 0
    const taken = await take(lanes.order({ ...wanted, lowestFirst }), wanted, hasClaimed ? call : patiently)
    hasClaimed = true
    if (!taken) return NOTHING
    const { rows, runs } = taken
    for (const last of lastOfLanes(rows)) lanes.pass(last, last.rank)
    // What is left is running, or not for us, and need not be walked over again.
    if (isAll(rows.length, most, wanted) && alarms === alarmsBefore) lanes.passAll(asked)
    takenSince += rows.length
    return { runs, isEmpty: false }
  }

  return {
    resolveDoubts: () => doubts.resolve(),
    claim: async (wanted) => {
      if (!hasBegun) await begin()
      return takeOn(wanted)
    },
    isSearchDue: (wasShort) => monotonicMs() >= (wasShort ? Math.min(lookAtMs, sweepAtMs) : lookAtMs),
    search: async (wanted) => {
      await look()
      return wanted.limit > 0 ? takeOn(wanted) : NOTHING
    },
    isSweepDue: (wasEmpty) =>
      monotonicMs() >= (wasEmpty ? Math.min(sweepAtMs, sweepAtLastMs) : sweepAtLastMs),
    sweep: async (wanted) => {
      const startedAtMs = monotonicMs()
      const [most, alarmsBefore] = [mostOf(wanted), alarms]
      const isInformed = alarmsAtLook === alarms
      let outcome: Swept = "cut off"
      sweepAtMs = Number.POSITIVE_INFINITY
      sweepAtLastMs = Number.POSITIVE_INFINITY
      try {
        const taken = await take(lanes.passed({ ...wanted, lowestFirst: false }), wanted, patiently)
        if (!taken) return NOTHING
        const { rows, runs } = taken
        const isDone = isAll(rows.length, most, wanted)
        outcome = isDone ? "all" : "some"
        // There may be more behind them, for the claims that follow.
        if (!isDone) for (const last of lastOfLanes(rows)) lanes.wake({ ...last, pool })
        const isQuiet = isInformed && alarms === alarmsBefore
        return { runs, isEmpty: isDone && rows.length === 0 && isQuiet }
      } finally {
        const endedAtMs = monotonicMs()
        const restMs = restAfter(endedAtMs - startedAtMs, { leastMs: SWEEP_REST_MS })
        sweepAtMs = endedAtMs + restMs
        sweepAtLastMs = alarms === alarmsBefore ? endedAtMs + BUSY_REST[outcome](restMs) : 0
      }
    },
    wake: (lane) => {
      if (lane) lanes.wake(lane)
      else alarm()
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
    isLowWaterDue: () => takenSince >= MANY_TAKEN && monotonicMs() >= recordAtMs,
    recordLowWater: async () => {
      const { lanes: reached, late, rank: clock } = lanes.reached()
      if (takenSince === 0 || reached.length === 0) return
      takenSince = 0
      recordAtMs = monotonicMs() + RECORD_EVERY_MS
      const ranks = {
        solos: reached.map(({ solo }) => solo),
        priorities: reached.map(({ priority }) => priority),
        ranks: reached.map(({ rank }) => rank),
      }
      const patience = { deadlineMs: RECORD_EVERY_MS }
      await database.run(recordLowWater, { pool, jobs: names, ...ranks, late, clock }, patience)
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

/** The last of each lane, of rows in order. */
function lastOfLanes(rows: readonly Row[]): Row[] {
  return rows.filter((row, index) => {
    const next = rows[index + 1]
    return !next || next.priority !== row.priority || next.solo !== row.solo
  })
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
