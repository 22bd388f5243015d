/**
 * Takes the ends of attempts, writes them in batches, and tells the rest of the process after the commit.
 *
 * A settlement is in one of three places: - `pending`: it waits for a writer, the oldest first. A busy process gathers
 * for a moment; an idle one writes at once.
 * - `written`: a writer has sent it. If the write fails, the settlement goes back to the end of `pending`.
 * - `aside`: it failed even alone. It is retried apart, less and less often, so that it delays no other settlement.
 *
 * A settlement that cannot be written is retried for as long as the lease may live: the handler has done its work, and
 * without its end the run would be executed again.
 */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { RetryPolicy } from "../../job/options.ts"
import type { AttemptEnd, Events } from "../../observe/events.ts"
import type { ErrorRecord } from "../../queue/error-record.ts"
import { decideNextState, errorOf } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { createStop } from "../../runtime/stop.ts"
import type { AttemptOutcome } from "../../stats/tally.ts"
import { isUncertain } from "../../store/database-error.ts"
import { type ClaimedRun, factsOf } from "../queue/claimed-run.ts"
import type { ReadyLane } from "../queue/lane.ts"
import { withLine } from "./attempt-log.ts"
import { type Settlement, settle, type WorkerIdentity } from "./settle.ts"

export interface Settler {
  /** Calls `done` once the end is written, or once the run is known to belong to another worker. */
  readonly settle: (ended: AttemptEnding, done: () => void) => void
  /** Tells of a success that the handler's own transaction has committed. */
  readonly tellCompleted: (ended: AttemptEnding, limitKeys: readonly string[]) => void
  /** Are more results unwritten than a crash may repeat? */
  readonly isFull: () => boolean
  /** How many more results may be unwritten. */
  readonly room: () => number
  /** Stops retrying. The lease will expire, and another worker executes the runs again. */
  readonly close: () => void
}

export interface SettlerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly identity: WorkerIdentity
  /** The policy by which a failure of the run is judged now. */
  readonly retryOf: (run: ClaimedRun) => RetryPolicy
  /** Are handlers running, whose results can share a write? */
  readonly isBusy: () => boolean
  /** Called after the commit with the duration of a successful attempt of this job. */
  readonly onSucceeded: (job: string, durationMs: number) => void
  /** Called after the commit for every attempt, for the statistics. */
  readonly onCounted: (run: ClaimedRun, end: AttemptCount) => void
  /** Called after the commit: this worker no longer holds the run. */
  readonly onEnded: (run: ClaimedRun) => void
  /** The run no longer belonged to this worker when its end was written. */
  readonly onFenced: (run: ClaimedRun) => void
  /** Called after the commit for callers of this process that wait for the run. */
  readonly onFinished: (finished: FinishedRun) => void
  /** Called after the commit for a dead run of this schedule. */
  readonly onDied: (schedule: string) => void
  /** Called after the commit for a run that is ready again. `undefined`: it waits for its next attempt. */
  readonly onReturned: (lane: ReadyLane | undefined) => void
  /** Called after the commit with limits that may admit their next run. */
  readonly onRoom: (keys: readonly string[]) => void
  /** There is room for more results. */
  readonly onWritten: () => void
  readonly onFailure: (error: unknown, failures: number) => void
}

/** How an attempt ended, as the statistics count it. */
export interface AttemptCount {
  readonly outcome: AttemptOutcome
  /** The state of the run after the attempt. */
  readonly state: string
  /** Null if the handler never ran. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number
}

export interface FinishedRun {
  readonly id: string
  readonly state: string
  readonly result: string | null
  readonly error: ErrorRecord | null
}

interface Pending extends Settlement {
  readonly run: ClaimedRun
  readonly endedAtMs: number
  readonly done: () => void
}

type AttemptEnding = Pick<Pending, "run" | "startedAtMs" | "outcome" | "logs">

/** In the order in which they will be written. */
type Line = Map<ClaimedRun, Pending>

const REST_BASE_MS = 50
const REST_CAP_MS = 5_000
/** If more than this fail alone, in one batch or with no success in between, the database may be at fault. */
const MOST_SET_ASIDE = 3
/** Writes at the same time: one is sent while the other is answered. */
const WRITERS = 2
/**
 * No handler starts while more than this are pending or set aside, or while one has been pending or written for so
 * long. A crash repeats these runs, and at most two batches that the writers have sent.
 */
const MOST_PENDING = 1_000
const LONGEST_PENDING_MS = 1_000
/** A batch of more characters would block the event loop while it is escaped and sent. */
const MOST_CHARACTERS = 4_194_304

export function createSettler(parts: SettlerParts): Settler {
  const { runtime, events, identity, onFailure } = parts
  const pending: Line = new Map()
  const written: Line = new Map()
  const aside: Line = new Map()
  const closed = createStop()
  let writers = 0
  let most: number = DEFAULTS.settleRuns
  let gathering = false
  /** Number of the current retry of `aside`. Undefined while `aside` is empty. */
  let retries: number | undefined
  /** How many were set aside since the last successful write. */
  let asideInARow = 0
  /** One run may start, to show whether every settlement fails or only those set aside. */
  let mayProbe = false

  /** Starts a writer: now, or once more settlements have gathered. */
  function enlist(isUrgent = false): void {
    if (writers >= WRITERS || pending.size === 0 || closed.signal.aborted) return
    if (isUrgent || pending.size >= most || (writers === 0 && !parts.isBusy())) return void write()
    // A working writer takes the rest along.
    if (writers > 0 || gathering) return
    gathering = true
    runtime.after(DEFAULTS.settleDelayMs, () => {
      gathering = false
      if (pending.size > 0 && writers < WRITERS) void write()
    })
  }

  async function write(): Promise<void> {
    writers += 1
    let failures = 0
    while (pending.size > 0 && !closed.signal.aborted) {
      const batch = takeBatch(pending, most)
      for (const each of batch) written.set(each.run, each)
      try {
        await settleSome(batch)
        failures = 0
        most = DEFAULTS.settleRuns
        parts.onWritten()
      } catch (error) {
        failures += 1
        onFailure(error, failures)
        // A batch that takes too long is too large.
        if (isLate(error)) most = Math.max(1, Math.ceil(batch.length / 2))
        for (const { run } of batch) {
          doubt(written.get(run), error)
          move(run, written, pending)
        }
        await rest(failures)
      }
      // The second writer is for full batches only.
      if (writers > 1 && pending.size < most) break
    }
    writers -= 1
    enlist()
  }

  function settleSome(batch: readonly Pending[]): Promise<void> {
    let failed = 0
    const listener = {
      onSettled,
      onFenced,
      onRoom: parts.onRoom,
      onSetAside: ({ run }: Pending, error: DatabaseError) => {
        failed += 1
        if (failed > MOST_SET_ASIDE) throw error
        if (!aside.has(run)) asideInARow += 1
        move(run, written.has(run) ? written : aside, aside)
        onFailure(error, (retries ?? 0) + 1)
        if (retries === undefined) void retryAside()
      },
      onGivenUp: (settlement: Pending, error: DatabaseError) => {
        onFailure(error, 1)
        onFenced(settlement)
      },
    }
    return settle({ runtime, identity, ...listener }, batch)
  }

  /** Less and less often, until `aside` is empty. */
  async function retryAside(): Promise<void> {
    for (retries = 1; aside.size > 0; retries += 1) {
      await rest(retries)
      if (closed.signal.aborted) return
      const batch = takeBatch(new Map(aside), DEFAULTS.settleRuns)
      await settleSome(batch).catch((error: unknown) => {
        for (const { run } of batch) doubt(aside.get(run), error)
        onFailure(error, (retries ?? 0) + 1)
      })
      mayProbe = asideInARow > MOST_SET_ASIDE
      parts.onWritten()
    }
    retries = undefined
  }

  async function rest(failures: number): Promise<void> {
    const longestMs = Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures)
    await runtime.sleep(runtime.random() * longestMs, closed.signal)
  }

  function onSettled(settlement: Pending, state: string, rank: bigint): void {
    const { run, next, endedAtMs } = settlement
    if (!remove(run)) return
    if (next.fault) events.emit({ type: "retry.faulty", ...factsOf(run), message: next.fault })
    tell(settlement, state, rank, endedAtMs)
    settlement.done()
  }

  function onFenced({ run, done }: Pending): void {
    if (!remove(run)) return
    parts.onFenced(run)
    events.emit({ type: "attempt.fenced", ...factsOf(run) })
    done()
  }

  function remove(run: ClaimedRun): boolean {
    const isHere = written.delete(run) || aside.delete(run)
    if (isHere) asideInARow = 0
    return isHere
  }

  function tell(
    { run, outcome, startedAtMs }: AttemptEnding,
    state: string,
    rank: bigint,
    endedAtMs: number,
  ): void {
    parts.onEnded(run)
    const error = errorOf(outcome)
    const durationMs = endedAtMs - (startedAtMs ?? endedAtMs)
    // A cancelled run ends as cancelled, whatever its handler returned.
    const kind = state === "cancelled" ? "cancelled" : outcome.kind
    parts.onCounted(run, { outcome: kind, state, startedAtMs, endedAtMs })
    const isRoutine = state === "succeeded" || (outcome.kind === "released" && startedAtMs === null)
    if (state === "succeeded") parts.onSucceeded(run.job.name, durationMs)
    if (!isRoutine || events.hearsRoutine())
      events.emit({
        type: "attempt.finished",
        ...factsOf(run),
        outcome: kind,
        // The statement returns no other words.
        runState: state as AttemptEnd["runState"],
        durationMs,
        ...(error && { error: { code: error.code, message: error.message } }),
      })
    if (state === "waiting") parts.onReturned(undefined)
    else if (state === "ready")
      parts.onReturned({ pool: run.pool, solo: run.solo, priority: run.priority, rank })
    else {
      if (state === "dead" && run.extra.schedule) parts.onDied(run.extra.schedule)
      const result = outcome.kind === "succeeded" && state === "succeeded" ? outcome.result : null
      parts.onFinished({ id: run.id, state, result, error })
    }
  }

  function room(): number {
    const left = MOST_PENDING - pending.size - aside.size
    if (asideInARow <= MOST_SET_ASIDE) return left
    // Running handlers need no probe: their settlements will show it.
    return mayProbe && !parts.isBusy() ? Math.min(1, left) : 0
  }

  function isWaitingForLong(line: ReadonlyMap<ClaimedRun, Pending>): boolean {
    // The first is about the oldest: a settlement that failed went to the end.
    for (const { endedAtMs } of line.values()) return runtime.monotonicMs() - endedAtMs >= LONGEST_PENDING_MS
    return false
  }

  return {
    settle: ({ run, startedAtMs, outcome, logs }, done) => {
      const { attempt } = run
      const next = decideNextState({ outcome, policy: parts.retryOf(run), attempt, random: runtime.random })
      const endedAtMs = runtime.monotonicMs()
      pending.set(run, {
        run,
        startedAtMs,
        endedAtMs,
        outcome,
        next,
        logs: next.fault ? withLine(logs, endedAtMs - (startedAtMs ?? endedAtMs), next.fault) : logs,
        done,
        isDoubtful: false,
      })
      mayProbe = false
      enlist(run.job.settle === "now")
    },
    tellCompleted: (ended, limitKeys) => {
      tell(ended, "succeeded", 0n, runtime.monotonicMs())
      if (limitKeys.length > 0) parts.onRoom(limitKeys)
    },
    isFull: () => room() <= 0 || isWaitingForLong(written) || isWaitingForLong(pending),
    room,
    close: () => closed.abort(),
  }
}

/** Takes as many as may go in one batch, and at least one. */
function takeBatch(line: Line, most: number): Pending[] {
  const batch: Pending[] = []
  let characters = 0
  for (const [run, settlement] of line) {
    const { outcome } = settlement
    characters += outcome.kind === "succeeded" ? outcome.result.length : 0
    if (batch.length === most || (batch.length > 0 && characters > MOST_CHARACTERS)) break
    batch.push(settlement)
    line.delete(run)
  }
  return batch
}

/** To the end of `to`, which may be the same line. */
function move(run: ClaimedRun, from: Line, to: Line): void {
  const settlement = from.get(run)
  if (!settlement) return
  from.delete(run)
  to.set(run, settlement)
}

function doubt(settlement: Pending | undefined, error: unknown): void {
  if (settlement && isUncertain(error)) settlement.isDoubtful = true
}

function isLate(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_DEADLINE"
}
