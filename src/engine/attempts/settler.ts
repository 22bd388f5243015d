/**
 * Takes the ends of attempts, writes them down in batches, and tells the others only after the commit.
 *
 * Ends gather while the process is busy and go out together; an idle process settles at once. What cannot be written
 * is tried again for as long as the lease may live: the handler has done its work, and forgetting that would mean doing
 * it twice. An end that fails even alone is set aside and tried again beside the others, so that it holds up nobody else.
 */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { AttemptEnd, Events } from "../../observe/events.ts"
import type { ErrorRecord } from "../../queue/error-record.ts"
import { decideFate, errorOf, type Outcome } from "../../queue/fate.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { createStop } from "../../runtime/stop.ts"
import { isUncertain } from "../../store/database-error.ts"
import { type ClaimedRun, factsOf } from "../queue/claimed-run.ts"
import type { ReadyLane } from "../queue/lane.ts"
import { withLine } from "./attempt-log.ts"
import { type Became, type End, settleBatch, type WorkerIdentity } from "./settle-batch.ts"

export interface Settler {
  /** Calls `done` once the end is written, or is known to be nobody's business any more. */
  readonly settle: (ended: EndedAttempt, done: () => void) => void
  /** Tells of an end that was written elsewhere, in the handler's own transaction. */
  readonly tellCompleted: (ended: EndedAttempt, became: Became) => void
  /** Whether more results are waiting to be written than a crash may repeat. */
  readonly isFull: () => boolean
  /** How many more may wait. */
  readonly room: () => number
  /** Gives up on what could not be written; the lease will expire, and others will try those runs again. */
  readonly close: () => void
}

export interface EndedAttempt {
  readonly run: ClaimedRun
  /** Null for an attempt whose handler never ran. */
  readonly startedAtMs: number | null
  readonly outcome: Outcome
  readonly logs: string | null
}

export interface SettlerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly identity: WorkerIdentity
  /** Whether handlers are running that will soon have results too. */
  readonly isBusy: () => boolean
  /** Called after the commit with how long an attempt of this job took that succeeded. */
  readonly onSucceeded: (job: string, durationMs: number) => void
  /** Called after the commit: the run is no longer held. */
  readonly onEnded: (run: ClaimedRun) => void
  /** Called for a run that was no longer ours when its end was to be written. */
  readonly onFenced: (run: ClaimedRun) => void
  /** Called after the commit, for everyone in this process who waits for the run. */
  readonly onFinished: (finished: FinishedRun) => void
  /** Called after the commit for a run of a schedule that is dead. */
  readonly onDied: (schedule: string) => void
  /** Called after the commit for a run that is ready again, or `undefined` for one that waits. */
  readonly onReturned: (lane: ReadyLane | undefined) => void
  /** Called after the commit with limits under which there may be room. */
  readonly onRoom: (keys: readonly string[]) => void
  /** There is room for more results. */
  readonly onWritten: () => void
  readonly onFailure: (error: unknown, failures: number) => void
}

export interface FinishedRun {
  readonly id: string
  readonly state: string
  readonly result: string | null
  readonly error: ErrorRecord | null
}

interface PendingEnd extends End {
  readonly run: ClaimedRun
  readonly endedAtMs: number
  readonly done: () => void
  /** What is wrong with the job's own retry functions. */
  readonly fault: string | null
  /** An earlier write may have taken effect although its answer was lost. */
  doubtful: boolean
}

/** In the order in which they are to be written. */
type Ends = Map<ClaimedRun, PendingEnd>

const REST_BASE_MS = 50
const REST_CAP_MS = 5_000
/** If more than that fail alone, of one batch or with nothing written in between, it may not be about them. */
const MOST_SET_ASIDE = 3
/** Writes at the same time: one is sent while the other is answered. */
const WRITERS = 2
/**
 * No handler starts with more results than this behind those that are being written, or with one that has waited so long
 * and was not set aside. A crash repeats these, and at the worst what the writers have in hand.
 */
const MOST_PENDING = 1_000
const LONGEST_PENDING_MS = 1_000
/** Results are escaped, sent and parsed in one go; more than this at once would block everything else. */
const MOST_CHARACTERS = 4_194_304

export function createSettler(parts: SettlerParts): Settler {
  const { runtime, events, identity, onFailure } = parts
  /** Waiting for a writer, the oldest first. */
  const pending: Ends = new Map()
  /** In the hands of a writer. */
  const written: Ends = new Map()
  /** Failed even alone. They count among what may be lost, but nobody waits for them. */
  const aside: Ends = new Map()
  const closed = createStop()
  let writers = 0
  let most: number = DEFAULTS.settleRuns
  let gathering = false
  /** How often what was set aside has been tried again; undefined while there is nothing. */
  let retries: number | undefined
  /** How many were set aside since an end was last written. */
  let asideInARow = 0
  /** One run may show whether it is about those that were set aside, or about all. */
  let mayProbe = false

  /** Finds a writer for what is pending: now, or when more has gathered. */
  function enlist(isUrgent = false): void {
    if (writers >= WRITERS || pending.size === 0 || closed.signal.aborted) return
    if (isUrgent || pending.size >= most || (writers === 0 && !parts.isBusy())) return void write()
    // A writer that is at work takes the rest along.
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
      for (const end of batch) written.set(end.run, end)
      try {
        await settle(batch)
        failures = 0
        most = DEFAULTS.settleRuns
        parts.onWritten()
      } catch (error) {
        failures += 1
        onFailure(error, failures)
        // A batch that takes too long to be answered is too large.
        if (isLate(error)) most = Math.max(1, Math.ceil(batch.length / 2))
        for (const { run } of batch) putBack(run, error)
        await rest(failures)
      }
      // The second writer is for full batches; what trickles in, one can write alone.
      if (writers > 1 && pending.size < most) break
    }
    writers -= 1
    enlist()
  }

  function settle(ends: readonly PendingEnd[]): Promise<void> {
    let failed = 0
    return settleBatch(runtime, {
      ends,
      identity,
      isDoubtful: (end) => end.doubtful,
      tell,
      replace: ({ run }, by) => {
        for (const ends of [written, aside]) if (ends.has(run)) ends.set(run, by)
      },
      setAside: ({ run }, error) => {
        failed += 1
        if (failed > MOST_SET_ASIDE) throw error
        if (!aside.has(run)) asideInARow += 1
        move(run, written.has(run) ? written : aside, aside)
        onFailure(error, (retries ?? 0) + 1)
        if (retries === undefined) void retryAside()
      },
      giveUp: (end, error) => {
        onFailure(error, 1)
        tell(end, undefined)
      },
    })
  }

  /** More and more seldom, until all of it is written or was no longer ours. */
  async function retryAside(): Promise<void> {
    for (retries = 1; aside.size > 0; retries += 1) {
      await rest(retries)
      if (closed.signal.aborted) return
      const batch = takeBatch(new Map(aside), DEFAULTS.settleRuns)
      await settle(batch).catch((error: unknown) => {
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

  /** To the end of the line, if it is still waiting. */
  function putBack(run: ClaimedRun, error: unknown): void {
    doubt(written.get(run), error)
    move(run, written, pending)
  }

  /** After the commit: whoever waits learns what became of the run, or that it was no longer ours. */
  function tell(end: PendingEnd, became: Became | undefined): void {
    if (!written.delete(end.run) && !aside.delete(end.run)) return
    asideInARow = 0
    if (became) {
      if (end.fault !== null) events.emit({ type: "retry.faulty", ...factsOf(end.run), message: end.fault })
      tellBecame(end, became, end.endedAtMs)
    } else {
      parts.onFenced(end.run)
      events.emit({ type: "attempt.fenced", ...factsOf(end.run) })
    }
    end.done()
  }

  function tellBecame(ended: EndedAttempt, became: Became, endedAtMs: number): void {
    const { run, outcome, startedAtMs } = ended
    const { state } = became
    parts.onEnded(run)
    const error = errorOf(outcome)
    const durationMs = endedAtMs - (startedAtMs ?? endedAtMs)
    const isRoutine = state === "succeeded" || (outcome.kind === "released" && startedAtMs === null)
    if (state === "succeeded") parts.onSucceeded(run.job.name, durationMs)
    if (!isRoutine || events.hearsRoutine())
      events.emit({
        type: "attempt.finished",
        ...factsOf(run),
        // Whatever its handler said: somebody had cancelled it by then.
        outcome: state === "cancelled" ? "cancelled" : outcome.kind,
        // The statement knows these words and no others.
        runState: state as AttemptEnd["runState"],
        durationMs,
        ...(error && { error: { code: error.code, message: error.message } }),
      })
    if (became.limitKeys.length > 0) parts.onRoom(became.limitKeys)
    if (state === "waiting") parts.onReturned(undefined)
    else if (state === "ready") parts.onReturned(laneOf(ended, became))
    else {
      if (state === "dead" && run.extra.schedule) parts.onDied(run.extra.schedule)
      const result = outcome.kind === "succeeded" && state === "succeeded" ? outcome.result : null
      parts.onFinished({ id: run.id, state, result, error })
    }
  }

  function room(): number {
    const left = MOST_PENDING - pending.size - aside.size
    if (asideInARow <= MOST_SET_ASIDE) return left
    // If handlers are running, their ends will show it.
    return mayProbe && !parts.isBusy() ? Math.min(1, left) : 0
  }

  function isWaitingForLong(ends: ReadonlyMap<ClaimedRun, PendingEnd>): boolean {
    // The first is about the oldest: what has failed stands behind those that came meanwhile.
    for (const { endedAtMs } of ends.values()) return runtime.monotonicMs() - endedAtMs >= LONGEST_PENDING_MS
    return false
  }

  return {
    settle: ({ run, startedAtMs, outcome, logs }, done) => {
      const { retry: policy, attempt } = run
      const { fate, fault } = decideFate({ outcome, policy, attempt, random: runtime.random })
      const endedAtMs = runtime.monotonicMs()
      const told = fault === null ? logs : withLine(logs, endedAtMs - (startedAtMs ?? endedAtMs), fault)
      pending.set(run, {
        run,
        startedAtMs,
        endedAtMs,
        outcome,
        fate,
        logs: told,
        done,
        fault,
        doubtful: false,
      })
      mayProbe = false
      enlist(run.job.settle === "now")
    },
    tellCompleted: (ended, became) => tellBecame(ended, became, runtime.monotonicMs()),
    isFull: () => room() <= 0 || isWaitingForLong(written) || isWaitingForLong(pending),
    room,
    close: () => closed.abort(),
  }
}

function laneOf({ run }: EndedAttempt, { rank }: Became): ReadyLane {
  return { pool: run.pool, solo: run.solo, priority: run.priority, rank }
}

/** Takes out as many as go well together, at least one. */
function takeBatch(pending: Ends, most: number): PendingEnd[] {
  const batch: PendingEnd[] = []
  let characters = 0
  for (const [run, end] of pending) {
    characters += end.outcome.kind === "succeeded" ? end.outcome.result.length : 0
    if (batch.length === most || (batch.length > 0 && characters > MOST_CHARACTERS)) break
    batch.push(end)
    pending.delete(run)
  }
  return batch
}

/** To the end of the other line, or of the same. */
function move(run: ClaimedRun, from: Ends, to: Ends): void {
  const end = from.get(run)
  if (!end) return
  from.delete(run)
  to.set(run, end)
}

function doubt(end: PendingEnd | undefined, error: unknown): void {
  if (end && isUncertain(error)) end.doubtful = true
}

function isLate(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_DEADLINE"
}
