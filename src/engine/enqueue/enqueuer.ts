/**
 * Writes new runs, once each, also when answers of the database are lost.
 *
 * Every try carries an instant of the database's clock after which it writes nothing. When an answer is lost, the next
 * try waits for that instant, so that the first can no longer take effect. It uses the same ids, and gives way if it
 * finds them, live or in history.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findEnd } from "../../store/attempts/find-end.ts"
import { readClock } from "../../store/clock/read.ts"
import type { Database, Runner } from "../../store/database.ts"
import { deadlineError, hasEndedSession, isPassing, isUncertain } from "../../store/database-error.ts"
import { handOffRun } from "../../store/runs/hand-off.ts"
import { insertRuns } from "../../store/runs/insert.ts"
import { insertDelayedRuns } from "../../store/runs/insert-delayed.ts"
import { insertOneRun } from "../../store/runs/insert-one.ts"
import { insertPlainRuns } from "../../store/runs/insert-plain.ts"
import type { WakeUp } from "../../store/statement.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { ClaimDoubts } from "../queue/claim-doubts.ts"
import type { ReadyLane } from "../queue/lane.ts"
import { createEnqueueTogether } from "./enqueue-together.ts"
import {
  delayedParams,
  type EnqueueOutcome,
  type HandOff,
  insertParams,
  isDelayed,
  isPlain,
  type NewRun,
  oneParams,
  plainParams,
} from "./new-run.ts"
import { takeFreeKeys } from "./run-keys.ts"

export interface Enqueuer {
  /** Writes all runs or none. */
  readonly write: (
    job: EnqueueSettings,
    runs: readonly NewRun[],
    handOff?: HandOff,
    limits?: WriteLimits,
  ) => Promise<EnqueueOutcome>
  /** The same in a transaction of the caller. */
  readonly writeIn: (runner: Runner, job: EnqueueSettings, runs: readonly NewRun[]) => Promise<EnqueueOutcome>
}

/** How long a call may take, and what ends it earlier. */
export interface WriteLimits {
  readonly deadlineAtMs: number
  /** The database, as the call may use it. @default without limits of the call */
  readonly on?: Database
  /** When it aborts, nothing is tried again. */
  readonly signal?: AbortSignal
  /** Called before anything is sent past `on`, in a transaction of the caller's. */
  readonly onSent?: () => void
}

/** The most runs that one statement writes. */
const MOST_AT_ONCE = 5_000
/** Ranks are microseconds. The database's clock may be this far behind the estimate. */
const SLACK = 100_000n
/** A try that takes longer writes nothing. */
const TRY_MS = 5_000
const LARGE_TRY_MS = 20_000
/** The rest before the next try. */
const REST_BASE_MS = 20
const REST_CAP_MS = 1_000

/** Rolls back a try: an earlier one has written these runs. */
class WrittenBefore {
  readonly answers: EnqueueOutcome["answers"]
  constructor(answers: EnqueueOutcome["answers"]) {
    this.answers = answers
  }
}

/** Rolls back a try: its time was over before all runs were written. */
class Void {}

/** `announce` makes the notification that is sent in one message with an insert. */
export function createEnqueuer(
  runtime: Runtime,
  doubts: ClaimDoubts,
  announce: (lane: ReadyLane) => WakeUp | undefined = () => undefined,
): Enqueuer {
  const { database, monotonicMs } = runtime
  const clock = createDatabaseClock(monotonicMs)
  /** Only one at a time: an announcement may wait for notifications of other transactions, and holds its connection. */
  let isAnnouncing = false
  const onEnd = () => {
    isAnnouncing = false
  }

  async function write(
    job: EnqueueSettings,
    runs: readonly NewRun[],
    limits: WriteLimits,
    handOff?: HandOff,
  ): Promise<EnqueueOutcome> {
    const { deadlineAtMs, on = database, signal } = limits
    const isSimple = runs.length <= MOST_AT_ONCE && runs.every(({ key }) => key === null)
    let doubt: unknown
    for (let failures = 0; ; failures += 1) {
      const isDoubtful = doubt !== undefined
      const tryMs = Math.min(runs.length > MOST_AT_ONCE ? LARGE_TRY_MS : TRY_MS, deadlineAtMs - monotonicMs())
      let notAfter = Number.POSITIVE_INFINITY
      try {
        await hearTheTime(on, deadlineAtMs)
        notAfter = Math.ceil((clock.atLeast() ?? 0) + tryMs)
        const written =
          isSimple && !isDoubtful
            ? await writeSimply(on, job, runs, { notAfter, tryMs, handOff })
            : await writeCarefully(on, job, runs, { notAfter, tryMs, isDoubtful })
        if (written) return written
        // The try was void before it began: the database was too busy, or its clock was set forward.
        if (monotonicMs() >= deadlineAtMs) throw deadlineError(insertRuns.name)
        clock.forget()
      } catch (error) {
        if (error instanceof WrittenBefore) return { answers: error.answers, lanes: [] }
        if (isUncertain(error)) {
          doubt = error
          // The run may have been written as claimed, and then no worker would execute it.
          if (handOff) doubts.add(handOff)
          handOff?.cancel()
          handOff = undefined
        }
        const restMs = runtime.random() * Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures)
        const isOver = signal?.aborted || monotonicMs() + restMs >= deadlineAtMs
        // This error is certain of this try, and not of earlier ones.
        if (isOver || !(isUncertain(error) || isPassing(error))) throw doubt ?? error
        if (isPassing(error)) await runtime.sleep(restMs, signal)
        else if (!hasEndedSession(error) && !(await passed(notAfter, deadlineAtMs))) throw doubt ?? error
      }
    }
  }

  /** Asks for the database's time, unless it is known. A question whose answer is lost is repeated. */
  async function hearTheTime(on: Database, deadlineAtMs: number): Promise<void> {
    while (clock.atLeast() === undefined) {
      try {
        const [row] = await on.run(readClock, {}, { deadlineMs: deadlineAtMs - monotonicMs() })
        if (row) clock.hear(row.at)
      } catch (error) {
        if (!isUncertain(error) || monotonicMs() >= deadlineAtMs) throw error
      }
    }
  }

  /** Waits until then. False if the deadline comes first, because the clock was set back. */
  async function passed(instant: number, deadlineAtMs: number): Promise<boolean> {
    for (;;) {
      const restMs = instant - (clock.atLeast() ?? instant)
      if (restMs < 0) return true
      if (monotonicMs() + restMs >= deadlineAtMs) return false
      await runtime.sleep(restMs + 1)
    }
  }

  /** One statement. `undefined` if it was void. */
  async function writeSimply(
    on: Database,
    job: EnqueueSettings,
    runs: readonly NewRun[],
    { notAfter, tryMs, handOff }: { notAfter: number; tryMs: number; handOff: HandOff | undefined },
  ): Promise<EnqueueOutcome | undefined> {
    const behind =
      handOff === undefined && !isAnnouncing && areAll(job, runs, isPlain)
        ? announce(laneNow(job))
        : undefined
    const before: Runner = {
      run: (statement, params) =>
        on.run(statement, params, {
          deadlineMs: tryMs,
          ...(behind && { behind: { ...behind, onEnd } }),
        }),
    }
    if (behind) isAnnouncing = true
    const lanes = await insert(before, job, runs, { notAfter, handOff, isDoubtful: false }).catch((error) => {
      if (behind) isAnnouncing = false
      throw error
    })
    if (lanes[0] === undefined && runs.length > 0) return undefined
    if (lanes[0]) clock.hear(lanes[0].now_ms)
    return {
      answers: runs.map(({ id }) => ({ id, created: true })),
      lanes: behind ? lanes.map((lane) => ({ ...lane, isTold: true })) : lanes,
    }
  }

  /** The lane of a plain run of this job, with a lower bound of its rank. */
  function laneNow(job: EnqueueSettings): ReadyLane {
    const rank = BigInt(Math.floor((clock.atLeast() ?? 0) * 1_000)) - SLACK
    return { pool: job.pool, solo: false, priority: job.priority, rank }
  }

  /** A transaction: for many runs, for keys, and after a try whose answer was lost. */
  async function writeCarefully(
    on: Database,
    job: EnqueueSettings,
    runs: readonly NewRun[],
    { notAfter, tryMs, isDoubtful }: { notAfter: number; tryMs: number; isDoubtful: boolean },
  ): Promise<EnqueueOutcome | undefined> {
    return on
      .transaction(
        async (tx) => {
          const written = await writeIn(tx, job, runs, { notAfter, isDoubtful })
          const count = written.lanes.reduce((sum, { runs: some }) => sum + some, 0)
          const wanted = written.answers.filter(({ created }) => created).length
          if (isDoubtful && wanted > 0) {
            const ids = runs.slice(0, MOST_AT_ONCE).map(({ id }) => id)
            const known = await tx.run(findEnd, { ids })
            // Written earlier: live but not written by this try, or already in history.
            const isThere = count === 0 ? known.length > 0 : known.some((row) => row.run_state !== null)
            if (isThere) throw new WrittenBefore(written.answers)
          }
          if (count < wanted) throw new Void()
          return written
        },
        { deadlineMs: tryMs },
      )
      .catch((error: unknown) => {
        if (error instanceof Void) return undefined
        throw error
      })
  }

  async function writeIn(
    runner: Runner,
    job: EnqueueSettings,
    runs: readonly NewRun[],
    { notAfter, isDoubtful }: { notAfter: number | null; isDoubtful: boolean },
  ): Promise<EnqueueOutcome> {
    const answers = await takeFreeKeys(runner, job, runs)
    const fresh = runs.filter((_, index) => answers[index]?.created)
    const lanes: EnqueueOutcome["lanes"][number][] = []
    for (let from = 0; from < fresh.length; from += MOST_AT_ONCE) {
      const some = fresh.slice(from, from + MOST_AT_ONCE)
      lanes.push(...(await insert(runner, job, some, { notAfter, isDoubtful })))
    }
    return { answers, lanes }
  }

  const together = createEnqueueTogether(
    (job, runs, deadlineAtMs) => write(job, runs, { deadlineAtMs }),
    runtime,
  )

  return {
    write: (job, runs, handOff, limits) =>
      handOff === undefined && limits === undefined && together.isFor(job, runs)
        ? together.write(job, runs)
        : write(job, runs, limits ?? { deadlineAtMs: monotonicMs() + DEFAULTS.deadlineMs }, handOff),
    writeIn: (runner, job, runs) => writeIn(runner, job, runs, { notAfter: null, isDoubtful: false }),
  }
}

interface Insert {
  readonly notAfter: number | null
  readonly handOff?: HandOff | undefined
  /** An earlier try may have written these runs. */
  readonly isDoubtful: boolean
}

async function insert(
  runner: Runner,
  job: EnqueueSettings,
  runs: readonly NewRun[],
  { notAfter, handOff, isDoubtful }: Insert,
): Promise<EnqueueOutcome["lanes"]> {
  const lane = { pool: job.pool, solo: false, priority: job.priority }
  if (!isDoubtful && areAll(job, runs, isDelayed)) {
    const rows = await runner.run(insertDelayedRuns, delayedParams(job, runs, notAfter))
    return rows.map((row) => ({ ...row, ...lane, state: "waiting" }))
  }
  if (isDoubtful || !areAll(job, runs, isPlain))
    return runner.run(insertRuns, insertParams(job, runs, { notAfter, handOff }))
  const [run] = runs
  if (run && runs.length === 1) {
    const rows = await insertOne(runner, job, run, { notAfter, handOff })
    return rows.map((row) => ({ ...row, ...lane, runs: 1 }))
  }
  const rows = await runner.run(insertPlainRuns, plainParams(job, runs, { notAfter, handOff }))
  return rows.map((row) => ({ ...row, ...lane }))
}

async function insertOne(
  runner: Runner,
  job: EnqueueSettings,
  run: NewRun,
  { notAfter, handOff }: Pick<Insert, "notAfter" | "handOff">,
): Promise<Pick<EnqueueOutcome["lanes"][number], "state" | "rank" | "now_ms">[]> {
  const params = oneParams(job, run, notAfter)
  if (handOff === undefined) {
    const rows = await runner.run(insertOneRun, params)
    return rows.map(({ rank, now_ms }) => ({ state: "ready", rank, now_ms }))
  }
  const rows = await runner.run(handOffRun, { ...params, lease: handOff.lease, claim: handOff.claim })
  return rows.map(({ is_claimed, rank, now_ms }) => ({
    state: is_claimed ? "running" : "ready",
    rank,
    now_ms,
  }))
}

/** Plain runs have a shorter statement, unless they are under a limit. */
function areAll(job: EnqueueSettings, runs: readonly NewRun[], isOfKind: (run: NewRun) => boolean): boolean {
  return job.concurrency === null && runs.every(isOfKind)
}

/**
 * A lower bound of the database's time, from answers that carried it. It limits until when a statement may take effect,
 * and decides nothing else.
 */
interface DatabaseClock {
  /** An answer carried this reading of the clock. */
  readonly hear: (at: InstantMs) => void
  /** The clock was set meanwhile, so earlier readings are wrong. */
  readonly forget: () => void
  /** The latest reading plus the time since. `undefined` before the first reading. */
  readonly atLeast: () => InstantMs | undefined
}

function createDatabaseClock(monotonicMs: () => number): DatabaseClock {
  let heard: { at: InstantMs; heardAtMs: number } | undefined
  return {
    hear: (at) => {
      heard = { at, heardAtMs: monotonicMs() }
    },
    forget: () => {
      heard = undefined
    },
    atLeast: () => heard && heard.at + (monotonicMs() - heard.heardAtMs),
  }
}
