/**
 * Takes the ends of attempts, writes them down in batches, and tells the others only after the commit.
 *
 * Ends gather while a write is under way and go out with the next one, so an idle process settles at once and a
 * busy one in batches. What cannot be written is tried again for as long as the lease may live: the handler has done
 * its work, and forgetting that would mean doing it twice. What fails for reasons of its own goes to the end of the
 * line, so that it holds up nobody else.
 */
import { DEFAULTS } from "../defaults.ts"
import { DatabaseError } from "../errors.ts"
import type { Events } from "../observe/events.ts"
import type { ErrorRecord } from "../queue/error-record.ts"
import { decideFate, errorOf, type Outcome } from "../queue/fate.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { isUncertain } from "../store/database-error.ts"
import { type ClaimedRun, factsOf } from "./attempt.ts"
import { type End, settleBatch } from "./settle-batch.ts"

export interface Settler {
  /**
   * Resolves once the end is written, or is known to be nobody's business any more. `startedAtMs` is null for an
   * attempt whose handler never ran.
   */
  readonly settle: (run: ClaimedRun, startedAtMs: number | null, outcome: Outcome) => Promise<void>
  /** This lease is dead: what is not yet written under it never will be, and is told as fenced. */
  readonly giveUpOn: (lease: string) => void
  /** Gives up on what could not be written; the lease will expire, and others will try those runs again. */
  readonly close: () => void
}

export interface SettlerParts {
  readonly runtime: Runtime
  readonly events: Events
  /** Called after the commit, for everyone in this process who waits for the run. */
  readonly onFinished: (finished: FinishedRun) => void
  /** Called after the commit for a run that went back. */
  readonly onReturned: (pool: string, state: "waiting" | "ready") => void
  readonly onFailure: (error: unknown, failures: number) => void
}

export interface FinishedRun {
  readonly id: string
  readonly state: string
  readonly result: string | null
  readonly error: ErrorRecord | null
}

interface PendingEnd extends End {
  readonly endedAtMs: number
  readonly done: () => void
  /** An earlier write may have taken effect although its answer was lost. */
  doubtful: boolean
}

const REST_BASE_MS = 50
const REST_CAP_MS = 5_000
/** Results are escaped, sent and parsed in one go; more than this at once would block everything else. */
const MOST_CHARACTERS = 4_194_304

export function createSettler({ runtime, events, onFinished, onReturned, onFailure }: SettlerParts): Settler {
  const pending = new Map<ClaimedRun, PendingEnd>()
  const deadLeases = new Set<string>()
  const closed = new AbortController()
  let flushing = false

  async function flush(): Promise<void> {
    flushing = true
    let failures = 0
    let most: number = DEFAULTS.settleRuns
    while (pending.size > 0 && !closed.signal.aborted) {
      for (const end of pending.values()) if (deadLeases.has(end.run.lease)) await tell(end, false)
      const batch = takeBatch(pending.values(), most)
      try {
        await settleBatch(runtime, {
          ends: batch,
          isDoubtful: (end) => pending.get(end.run)?.doubtful ?? false,
          tell,
        })
        failures = 0
        most = DEFAULTS.settleRuns
      } catch (error) {
        failures += 1
        onFailure(error, failures)
        // A batch that takes too long to be answered is too large.
        if (isLate(error)) most = Math.max(1, Math.ceil(batch.length / 2))
        for (const end of batch) putBack(end, error)
        const longestMs = Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures)
        await runtime.sleep(runtime.random() * longestMs, closed.signal)
      }
    }
    flushing = false
  }

  /** To the end of the line, if it is still waiting. */
  function putBack(end: PendingEnd, error: unknown): void {
    if (!pending.delete(end.run)) return
    if (isUncertain(error)) end.doubtful = true
    pending.set(end.run, end)
  }

  /** After the commit: whoever waits learns what became of the run, or that it was no longer ours. */
  async function tell({ run, outcome, fate }: End, ours: boolean): Promise<void> {
    const waiting = pending.get(run)
    if (!waiting) return
    await runtime.crashPoint("settle.written")
    pending.delete(run)
    if (ours) tellOurs({ ...waiting, outcome, fate })
    else events.emit({ type: "attempt.fenced", ...factsOf(run) })
    waiting.done()
  }

  function tellOurs({ run, outcome, fate, startedAtMs, endedAtMs }: PendingEnd): void {
    const error = errorOf(outcome)
    events.emit({
      type: "attempt.finished",
      ...factsOf(run),
      outcome: outcome.kind,
      runState: fate.state,
      durationMs: endedAtMs - (startedAtMs ?? endedAtMs),
      ...(error && { error: { code: error.code, message: error.message } }),
    })
    if (fate.final) {
      const result = outcome.kind === "succeeded" ? outcome.result : null
      onFinished({ id: run.id, state: fate.state, result, error })
    } else {
      onReturned(run.job.pool, fate.state)
    }
  }

  return {
    settle: (run, startedAtMs, outcome) =>
      new Promise((done) => {
        const fate = decideFate({
          outcome,
          policy: run.job.retry,
          attempt: run.attempt,
          random: runtime.random,
        })
        const endedAtMs = runtime.monotonicMs()
        pending.set(run, { run, startedAtMs, endedAtMs, outcome, fate, done, doubtful: false })
        if (!flushing) void flush()
      }),
    giveUpOn: (lease) => {
      deadLeases.add(lease)
    },
    close: () => closed.abort(),
  }
}

/** As many as go well together, at least one. */
function takeBatch(ends: Iterable<PendingEnd>, most: number): PendingEnd[] {
  const batch: PendingEnd[] = []
  let characters = 0
  for (const end of ends) {
    characters += end.outcome.kind === "succeeded" ? end.outcome.result.length : 0
    if (batch.length === most || (batch.length > 0 && characters > MOST_CHARACTERS)) break
    batch.push(end)
  }
  return batch
}

function isLate(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_DEADLINE"
}
