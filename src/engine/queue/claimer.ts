/**
 * Claims runs for one pool, lane by lane, each from where the last claim ended.
 *
 * The low-water mark of a lane keeps a claim cheap: it steps over no dead index entries, which an old snapshot may keep
 * for hours. The mark is only a hint. A look at the open transactions, twice a second, moves it back to where a late
 * commit may have put a run. A sweep from the bottom up to the mark finds every other run that was overlooked. Sweeps
 * take at most a fiftieth of the time, come at least every ten minutes, and run beside the claims.
 *
 * A process that starts begins at the marks that other processes have recorded.
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
  /** Gives back runs that claims may have taken although their answers were lost. */
  readonly resolveDoubts: () => Promise<void>
  /** Claims from where the last claim ended. The runs are in the order in which they should start. */
  readonly claim: (wanted: ClaimRequest) => Promise<Claim>
  /** Is it time to look for runs that no wake-up announced? Sooner if the last claim was short. */
  readonly isSearchDue: (wasShort: boolean) => boolean
  /** Looks for such runs and claims them. */
  readonly search: (wanted: ClaimRequest) => Promise<Claim>
  /** Is it time to sweep what claims have passed? Sooner if nothing else was found. */
  readonly isSweepDue: (wasEmpty: boolean) => boolean
  /** Claims overlooked runs below the marks. May take minutes; claims go on meanwhile. */
  readonly sweep: (wanted: ClaimRequest) => Promise<Claim>
  /** Runs became ready in this lane. `undefined`: a wake-up may have been missed, in any lane. */
  readonly wake: (lane: ReadyLane | undefined) => void
  /** May runs be ready that must not be claimed ahead of free slots? */
  readonly hasSolos: () => boolean
  /** Deletes the rows of claims that have ended, if there are many. */
  readonly forgetEnded: () => Promise<void>
  /** Have claims come far since the marks were last recorded? */
  readonly isLowWaterDue: () => boolean
  /** Records the marks, for processes that start later. */
  readonly recordLowWater: () => Promise<void>
  /** Cancels claims that wait for a connection, and asks for nothing more. */
  readonly close: () => void
}

export interface ClaimRequest {
  readonly limit: number
  /** Free slots: the claim brings no more solo runs than that. */
  readonly free: number
  /** Runs whose handlers from an earlier lease are still running in this process. */
  readonly except: readonly string[]
}

export interface Claim {
  readonly runs: readonly ClaimedRun[]
  /** A sweep went through everything below the marks and found nothing. */
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

interface ClaimedBatch {
  readonly rows: readonly Row[]
  readonly runs: readonly ClaimedRun[]
}

type Row = typeof claimRuns extends Statement<infer _, infer R> ? R : never

const LOOK_EVERY_MS = 500
/** The rest after a quick sweep. */
const SWEEP_REST_MS = 200
/** A busy pool sweeps this often, unless a fiftieth of the time is not enough for that. */
const SWEEP_AT_LEAST_MS = 60_000
/** How much of what lies below the marks a sweep has seen. */
type SweepReach = "all" | "some" | "cut off"
/** The rest before the next sweep of a busy pool. Shorter when the last sweep left runs behind. */
const BUSY_REST: Readonly<Record<SweepReach, (restMs: number) => number>> = {
  all: (restMs) => Math.max(restMs, SWEEP_AT_LEAST_MS),
  some: (restMs) => Math.min(restMs, SWEEP_AT_LEAST_MS),
  "cut off": (restMs) => restMs,
}
/** A process that starts at recorded marks and is busy at once sweeps after about this time. */
const FIRST_SWEEP_MS = 15_000
/** Marks are recorded after this many runs, and not more often than this. */
const MANY_TAKEN = 1_000
const RECORD_EVERY_MS = 5_000
/** Every so many claims begin with the lowest priority, so that it is never starved. */
const LOWEST_FIRST_EVERY = 16

export function createClaimer({ runtime, pool, jobs, lease, claims: ledger, doubts }: ClaimerParts): Claimer {
  const { database, monotonicMs } = runtime
  const names = [...jobs.keys()].sort()
  const lanes = createLanes()
  let hasBegun = false
  /** The first claim may begin at the bottom and take long. */
  let hasClaimed = false
  let claims = 0
  let lookAtMs = 0
  let sweepAtMs = 0
  let sweepAtLastMs = 0
  /** How often a wake-up may have been missed, and how often that was at the last look. */
  let alarms = 0
  let alarmsAtLook = 0
  /** Did the database take the lease for live at the last look? Its clock may have been set forward. */
  let isLeaseLive = true
  /** Runs claimed since the marks were last recorded. */
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
      // Spread, because many processes may start at the same time.
      const firstSweepAtMs = monotonicMs() + FIRST_SWEEP_MS * (0.5 + runtime.random())
      if (alarms === alarmsBefore) sweepAtLastMs = firstSweepAtMs
    }
    // Without recorded marks, this looks at everything.
    await look(patiently)
    hasBegun = true
  }

  /** A wake-up may have been missed, in any lane. */
  function alarm(): void {
    alarms += 1
    lookAtMs = 0
    sweepAtLastMs = 0
  }

  /** Reads the open transactions, and finds lanes that no wake-up has named. */
  async function look(how: CallOptions = call): Promise<void> {
    for (;;) {
      alarmsAtLook = alarms
      const rows = await database.run(lookAround, { lease: lease.id(), pool, ...lanes.gaps() }, how)
      const [first] = rows
      if (first) {
        lanes.look(parseSnapshot(first.snapshot, first.rank))
        // Claims have found nothing until now, and may have passed runs that were ready.
        if (first.is_held && !isLeaseLive) alarm()
        isLeaseLive = first.is_held
      }
      lookAtMs = monotonicMs() + LOOK_EVERY_MS
      const found = rows.flatMap(({ solo, priority }) =>
        solo === null || priority === null ? [] : [{ solo, priority }],
      )
      // The look finds one lane per gap, and more may be behind it. Lanes beyond the limit are found again later.
      const areTooMany = found.map((lane) => lanes.learn(lane)).includes(false)
      if (found.length === 0 || areTooMany) return
    }
  }

  /** Claims in these lanes. `undefined`: the lease was lost meanwhile. */
  async function take(
    order: LaneParams,
    { limit, except }: ClaimRequest,
    how: CallOptions = call,
  ): Promise<ClaimedBatch | undefined> {
    if (order.solos.length === 0) return { rows: [], runs: [] }
    const mine = { lease: lease.id(), claim: runtime.randomBits() }
    const rows = await database
      .run(claimRuns, { ...mine, pool, jobs: names, except, ...order, limit }, how)
      .catch((error: unknown) => {
        if (isUncertain(error)) doubts.add(mine)
        throw error
      })
    inOrder(rows)
    // Lost during the claim: the runs are reaped with the rest of the old lease.
    if (lease.id() !== mine.lease) return undefined
    if (rows.length > 0) ledger.open(mine, rows.length)
    return { rows, runs: runsOf(rows, mine) }
  }

  /**
   * A claim that brings this many may have left some. Read before the claim, because lanes may be forgotten meanwhile.
   */
  function mostOf({ limit, free }: ClaimRequest): number {
    return lanes.hasSolos() ? Math.min(limit, free) : limit
  }

  /** Did the claim take every run it was allowed to take? Under an expired lease it takes none. */
  function isAll(count: number, most: number, { except }: ClaimRequest): boolean {
    return count < most && except.length === 0 && isLeaseLive && lease.remainingMs() > 0
  }

  async function takeOn(wanted: ClaimRequest): Promise<Claim> {
    claims += 1
    const [asked, most, alarmsBefore] = [lanes.names(), mostOf(wanted), alarms]
    const lowestFirst = claims % LOWEST_FIRST_EVERY === 0
    const taken = await take(lanes.order({ ...wanted, lowestFirst }), wanted, hasClaimed ? call : patiently)
    hasClaimed = true
    if (!taken) return NOTHING
    const { rows, runs } = taken
    for (const last of lastOfLanes(rows)) lanes.pass(last, last.rank)
    // Every run that is left is running or excluded. The next claims need not step over it again.
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
      let outcome: SweepReach = "cut off"
      sweepAtMs = Number.POSITIVE_INFINITY
      sweepAtLastMs = Number.POSITIVE_INFINITY
      try {
        const taken = await take(lanes.passed({ ...wanted, lowestFirst: false }), wanted, patiently)
        if (!taken) return NOTHING
        const { rows, runs } = taken
        const isDone = isAll(rows.length, most, wanted)
        outcome = isDone ? "all" : "some"
        // More runs may be behind these. The next claims find them.
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

/** The last row of each lane. The rows must be in order. */
function lastOfLanes(rows: readonly Row[]): Row[] {
  return rows.filter((row, index) => {
    const next = rows[index + 1]
    return !next || next.priority !== row.priority || next.solo !== row.solo
  })
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
