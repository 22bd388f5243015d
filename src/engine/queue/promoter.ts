/**
 * Makes waiting runs ready when they are due. Sleeps until the next one is.
 *
 * It begins where it has come to, as claims do, because an old snapshot keeps the index entries of promoted runs. A
 * process that starts begins with runs that come due from then on. A sweep, which runs beside the loop, finds runs that
 * were due before or were overlooked.
 */
import { DEFAULTS } from "../../defaults.ts"
import { BOTTOM, createLowWater, parseSnapshot } from "../../queue/low-water.ts"
import { restAfter, WALK_DEADLINE_MS } from "../../queue/sweep-pace.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { CallOptions } from "../../store/database.ts"
import { nextDue } from "../../store/runs/next-due.ts"
import { promoteRuns } from "../../store/runs/promote.ts"
import type { InstantMs } from "../../time/instant.ts"
import { createBackgroundTask, createBell, type Loop } from "../loop.ts"
import type { ReadyLane } from "./lane.ts"

export interface Promoter extends Loop {
  /** Resolves when no sweep is under way. */
  readonly swept: () => Promise<void>
}

export interface PromoterParts {
  readonly runtime: Runtime
  readonly onReady: (lane: ReadyLane) => void
  /** Runs under limits have come due and stand in line. */
  readonly onParked: () => void
}

interface Promotion {
  readonly total: number
  /** When the last of them was due. */
  readonly lastMs: InstantMs
}

const BATCH = 1_000
/**
 * Due runs that could not be promoted are locked by another transaction. Asking at once would find them locked again.
 */
const HELD_REST_MS = 50
/** The rest after a quick sweep. */
const SWEEP_REST_MS = 5_000
/** Due runs are one lane, in the order of time. */
const DUE = "due"
const FIRST_MS = 0
/** The end of the year 9999. */
const LAST_MS = 253_402_300_799_000

export function createPromoter({ runtime, onReady, onParked }: PromoterParts): Promoter {
  const { database, monotonicMs } = runtime
  const bell = createBell(runtime)
  const sweeps = createBackgroundTask(bell.ring)
  const lowWater = createLowWater()
  let hasBegun = false
  let sweepAtMs = 0

  /** Promotes the runs that are due from one moment up to another. */
  async function promote(from: InstantMs, to: InstantMs, how: CallOptions = {}): Promise<Promotion> {
    const promoted = await database.run(promoteRuns, { from, to, limit: BATCH }, how)
    for (const { state, runs: _, last_due: __, ...lane } of promoted) {
      if (state === "ready") onReady(lane)
      else onParked()
    }
    return {
      total: promoted.reduce((total, { runs }) => total + runs, 0),
      lastMs: promoted.reduce((last, { last_due: dueMs }) => Math.max(last, dueMs), from),
    }
  }

  /** Begins at the present moment. Asked from beyond all runs, the statement returns only the clock. */
  async function begin(): Promise<void> {
    const [now] = await database.run(nextDue, { from: LAST_MS })
    if (now) lowWater.begin({ marks: new Map([[DUE, now.rank]]), late: [], rank: now.rank })
    hasBegun = true
  }

  async function sweep(to: InstantMs, signal: AbortSignal): Promise<void> {
    const startedMs = monotonicMs()
    try {
      let fromMs = FIRST_MS
      while (!signal.aborted) {
        const { total, lastMs } = await promote(fromMs, to, { deadlineMs: WALK_DEADLINE_MS })
        if (total < BATCH) return
        fromMs = lastMs
      }
    } finally {
      const endedMs = monotonicMs()
      sweepAtMs = endedMs + restAfter(endedMs - startedMs, { leastMs: SWEEP_REST_MS })
    }
  }

  return {
    name: "promoter",
    bell,
    tick: async (signal) => {
      sweeps.tell()
      if (!hasBegun) await begin()
      const from = instantOf(lowWater.from(DUE))
      if (monotonicMs() >= sweepAtMs) sweeps.begin(() => sweep(from, signal))
      const { total, lastMs } = await promote(from, LAST_MS)
      if (total > 0) lowWater.pass(DUE, BigInt(lastMs) * 1_000n)
      if (total === BATCH) return 0
      const [next] = await database.run(nextDue, { from: instantOf(lowWater.from(DUE)) })
      if (next) lowWater.look(parseSnapshot(next.snapshot, next.rank))
      const restMs = Math.min(DEFAULTS.tickMs, next?.in_ms ?? DEFAULTS.tickMs)
      return total === 0 && restMs === 0 ? HELD_REST_MS : restMs
    },
    swept: sweeps.ended,
  }
}

/** Ranks are microseconds. */
function instantOf(rank: bigint): InstantMs {
  return rank === BOTTOM ? FIRST_MS : Number(rank / 1_000n) - 1
}
