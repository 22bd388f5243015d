/**
 * The statistics of this process: adds up in memory how attempts end, and writes sums every ten seconds and at stop.
 *
 * A killed process loses at most what it has settled since the last write. History has every attempt all the same.
 *
 * The same loop records what the process measures of itself. One process of all, in turns, samples the depths of pools.
 */
import type { Runtime } from "../../runtime/runtime.ts"
import { foldTenants } from "../../stats/busiest.ts"
import { createTally, type TallyEntry } from "../../stats/tally.ts"
import { takeAlarmTurn } from "../../store/alarms/take-turn.ts"
import { appendStats } from "../../store/stats/append.ts"
import { sampleDepths } from "../../store/stats/sample-depths.ts"
import { measureWorker } from "../../store/workers/measure.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { AttemptCount } from "../attempts/settler.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"
import type { LostAttempt } from "./reaper.ts"

export interface Stats extends Loop {
  /** An attempt of this process is written. */
  readonly count: (run: ClaimedRun, end: AttemptCount) => void
  /** This process has recorded the attempt of a lost worker. */
  readonly countLost: (lost: LostAttempt) => void
  /** These runs were cancelled while no worker held them. */
  readonly countCancelled: (runs: readonly CancelledRun[]) => void
  /** Writes what was counted since the last write. */
  readonly write: () => Promise<void>
}

/** What the statistics say of a run that was cancelled. */
export interface CancelledRun {
  readonly job: string
  readonly pool: string
  readonly tenant: string
}

export interface StatsParts {
  readonly runtime: Runtime
  /** The lease of this process. */
  readonly lease: { readonly id: () => string }
  /** The slots of each pool of this process, and how many are in use. */
  readonly slots: () => readonly { readonly slots: number; readonly used: number }[]
}

/** A write whose answer is awaited or was lost. It is repeated with the same id, which adds nothing twice. */
interface Part {
  readonly id: string
  readonly beganMs: number
  readonly entries: readonly TallyEntry[]
}

const EVERY_MS = 10_000
/** A little less, so that a loop that is early by a millisecond does not leave a turn out. */
const TURN_MS = 9_000
const TURN = "stats.depths"
/** How many runs of a kind a sample counts. */
export const MOST_COUNTED = 10_000
/** A sample that takes longer is given up. */
const SAMPLE_DEADLINE_MS = 2_000

export function createStats({ runtime, lease, slots }: StatsParts): Stats {
  const { database } = runtime
  const tally = createTally()
  let beganMs = runtime.monotonicMs()
  let unwritten: Part | undefined
  let writing: Promise<void> | undefined
  /** A moment by both clocks, so that a wait can be computed without a question. */
  let clock: { readonly at: InstantMs; readonly monotonicMs: number } | undefined

  function count(run: ClaimedRun, { outcome, state, startedAtMs, endedAtMs }: AttemptCount): void {
    tally.add({
      job: run.job.name,
      pool: run.pool,
      tenant: run.tenant,
      outcome,
      isRetry: state === "waiting" && (outcome === "failed" || outcome === "timed_out"),
      isDead: state === "dead",
      waitMs: startedAtMs === null || clock === undefined ? null : waitMs(run.due, startedAtMs, clock),
      durationMs: startedAtMs === null ? null : Math.max(0, Math.round(endedAtMs - startedAtMs)),
    })
  }

  async function writeAll(): Promise<void> {
    // What an earlier write left comes first: it has an id and a minute of its own.
    if (unwritten) await writePart(unwritten)
    if (tally.isEmpty()) {
      beganMs = runtime.monotonicMs()
      return
    }
    unwritten = { id: runtime.newId(), beganMs, entries: foldTenants(tally.take()) }
    beganMs = runtime.monotonicMs()
    await writePart(unwritten)
  }

  async function writePart({ id, beganMs: since, entries }: Part): Promise<void> {
    const agoMs = Math.max(0, runtime.agoMs?.(since) ?? runtime.monotonicMs() - since)
    const texts = entries.map((entry) => JSON.stringify(entry))
    await database.run(appendStats, { part: id, agoMs, entries: texts })
    unwritten = undefined
  }

  /** One write at a time: two would send the same part. */
  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }

  async function measure(): Promise<void> {
    const pools = slots()
    const load = runtime.load?.()
    const sentAtMs = runtime.monotonicMs()
    const [row] = await database.run(measureWorker, {
      lease: lease.id(),
      slots: pools.map((pool) => pool.slots),
      used: pools.map((pool) => pool.used),
      delayMs: load?.delayMs ?? null,
      memoryBytes: load?.memoryBytes ?? null,
    })
    if (row) clock = { at: row.at, monotonicMs: (sentAtMs + runtime.monotonicMs()) / 2 }
  }

  async function sample(): Promise<void> {
    const [turn] = await database.run(takeAlarmTurn, { name: TURN, everyMs: TURN_MS })
    if (turn) await database.run(sampleDepths, { most: MOST_COUNTED }, { deadlineMs: SAMPLE_DEADLINE_MS })
  }

  return {
    name: "stats",
    bell: createBell(runtime),
    tick: async () => {
      await measure()
      await write()
      await sample()
      return EVERY_MS
    },
    count,
    countLost: ({ isDead, ...lost }) => {
      tally.add({ ...lost, outcome: "lost", isRetry: false, isDead, waitMs: null, durationMs: null })
    },
    countCancelled: (runs) => {
      for (const run of runs) tally.add({ ...run, ...CANCELLED })
    },
    write,
  }
}

const CANCELLED = {
  outcome: "cancelled",
  isRetry: false,
  isDead: false,
  waitMs: null,
  durationMs: null,
} as const

function waitMs(
  due: InstantMs,
  startedAtMs: number,
  clock: { readonly at: InstantMs; readonly monotonicMs: number },
): number {
  return Math.max(0, Math.round(clock.at + startedAtMs - clock.monotonicMs - due))
}
