/**
 * Takes the ends of attempts, writes them down in batches, and tells the others only after the commit.
 *
 * Ends gather while a write is under way and go out with the next one, so an idle process settles at once and
 * a busy one in batches. What cannot be written is tried again for as long as the lease may live: the handler
 * has done its work, and forgetting that would mean doing it twice.
 */
import { DEFAULTS } from "../defaults.ts"
import { DatabaseError } from "../errors.ts"
import type { Events } from "../observe/events.ts"
import type { ErrorRecord } from "../queue/error-record.ts"
import { decideFate, errorOf, type Outcome } from "../queue/fate.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { ClaimedRun } from "./attempt.ts"
import { type End, settleBatch } from "./settle-batch.ts"

export interface Settler {
  /** Resolves once the end is written, or is known to be nobody's business any more. */
  readonly settle: (run: ClaimedRun, startedAtMs: number, outcome: Outcome) => Promise<void>
  /** Drops what is not yet written under this lease: it is dead, so every write would be refused. */
  readonly drop: (lease: string) => void
  /** Gives up on what could not be written; the lease will expire, and others will try those runs again. */
  readonly close: () => void
}

export interface SettlerParts {
  readonly runtime: Runtime
  readonly events: Events
  /** Called after the commit, for everyone in this process who waits for the run. */
  readonly onFinished: (finished: FinishedRun) => void
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
}

const REST_BASE_MS = 50
const REST_CAP_MS = 5_000

export function createSettler({ runtime, events, onFinished, onFailure }: SettlerParts): Settler {
  const pending = new Map<ClaimedRun, PendingEnd>()
  const deadLeases = new Set<string>()
  const closed = new AbortController()
  let flushing = false

  async function flush(): Promise<void> {
    flushing = true
    while (pending.size > 0 && !closed.signal.aborted) {
      await settlePersistently([...pending.keys()].slice(0, DEFAULTS.settleRuns))
    }
    flushing = false
  }

  /** Goes on until nothing of the batch is pending, or nobody cares any more. */
  async function settlePersistently(batch: readonly ClaimedRun[]): Promise<void> {
    let repeated = false
    for (let failures = 0; !closed.signal.aborted; failures += 1) {
      const left = batch.flatMap((run) => pending.get(run) ?? [])
      for (const end of left) if (deadLeases.has(end.run.lease)) await tell(end, false)
      const ends = left.filter(({ run }) => pending.has(run))
      if (ends.length === 0) return
      try {
        await settleBatch(runtime, { ends, repeated, onCertain: tell })
      } catch (error) {
        onFailure(error, failures + 1)
        repeated ||= isUnknown(error)
        await runtime.sleep(
          runtime.random() * Math.min(REST_CAP_MS, REST_BASE_MS * 2 ** failures),
          closed.signal,
        )
      }
    }
  }

  /** After the commit: whoever waits learns what became of the run, or that it was no longer ours. */
  async function tell({ run, outcome, fate }: End, ours: boolean): Promise<void> {
    const waiting = pending.get(run)
    if (!waiting) return
    await runtime.crashPoint("settle.written")
    pending.delete(run)
    const facts = { run: run.id, job: run.job.name, pool: run.job.pool, attempt: run.attempt }
    const error = errorOf(outcome)
    if (ours) {
      events.emit({
        type: "attempt.finished",
        ...facts,
        outcome: outcome.kind,
        runState: fate.state,
        durationMs: waiting.endedAtMs - waiting.startedAtMs,
        ...(error && { error: { code: error.code, message: error.message } }),
      })
      const result = outcome.kind === "succeeded" ? outcome.result : null
      if (fate.final) onFinished({ id: run.id, state: fate.state, result, error })
    } else {
      events.emit({ type: "attempt.fenced", ...facts })
    }
    waiting.done()
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
        pending.set(run, { run, startedAtMs, endedAtMs: runtime.monotonicMs(), outcome, fate, done })
        if (!flushing) void flush()
      }),
    drop: (lease) => {
      deadLeases.add(lease)
    },
    close: () => closed.abort(),
  }
}

function isUnknown(error: unknown): boolean {
  return (
    error instanceof DatabaseError && (error.code === "OUTCOME_UNKNOWN" || error.code === "DATABASE_DEADLINE")
  )
}
