/** What a handler is told about the attempt it executes, and what it can do in it. */
import type { Verdict } from "./verdict.ts"

/** Its members are made when they are asked for: take them off it (`const { signal, log } = ctx`), do not copy it. */
export interface JobContext {
  /** The run that this is an attempt at. */
  readonly runId: string
  /** Names this attempt; known before the handler starts, and part of its record in history. */
  readonly attemptId: string
  /** The number of this attempt, counted from 1. Those that were not charged are not counted. */
  readonly attempt: number
  /** 1, and one more with each replay of the run after its death. */
  readonly generation: number
  /** The name of the job. */
  readonly job: string
  /** The pool that the run is in. */
  readonly pool: string
  /** On whose behalf; absent for runs of nobody in particular. */
  readonly tenant: string | undefined
  /** When the run was due. */
  readonly due: Date
  /** The schedule that the run comes from. */
  readonly schedule: ScheduleRef | undefined
  /** The planned instant that the run stands for. */
  readonly occurrence: Date | undefined
  /** The occurrences that came due while no scheduler was running, and that this run makes up for. */
  readonly missed: MissedOccurrences | undefined
  /** The tags that the run was given. */
  readonly tags: readonly string[]
  /**
   * The same for every attempt and every replay of the run: give it to outside systems, so that an effect that is
   * repeated after a crash is recognised as the same one.
   */
  readonly idempotencyKey: string
  /** A number that only grows with every claim of this run: outside systems can refuse what comes with a lower one. */
  readonly fencingToken: number
  /** What the last run of the same schedule that succeeded returned. */
  readonly lastResult: unknown
  /** How the last attempt that failed did so; at the first attempt, how the last run of the same schedule died, if it did. */
  readonly lastFailure: { readonly code: string | null; readonly message: string } | undefined
  /**
   * Aborts when the handler should end: its timeout is over, the run was cancelled, its lease is lost, or the process
   * stops. The reason is an `AttemptAborted` whose code says which.
   */
  readonly signal: AbortSignal
  /** Keeps a line with the record of this attempt, up to 256 KiB in all; what is more is counted and dropped. */
  readonly log: (message: string, data?: unknown) => void
  /** Says how far the work has come, as JSON; written at most once a second, the last one always. */
  readonly progress: (value: unknown) => void
  /**
   * Opens a transaction on Carillon's own database, and completes the run in it: what `body` writes through `tx` and
   * the end of the run are committed together or not at all. What `body` returns is the result of the run. A verdict
   * (`Retry`, `Snooze`, `Cancel`, `Bury`) that it returns or throws rolls everything back and is thrown on. What is
   * committed is committed: the run has succeeded, however late the handler itself ends. The attempt waits for a
   * transaction that its handler does not await, and fails if that fails.
   *
   * @example return ctx.transaction(async (tx) => {
   *   await tx.query("update accounts set balance = balance - $1 where id = $2", [amount, account])
   *   return { booked: amount }
   * })
   */
  readonly transaction: <Result>(
    body: (tx: HandlerTransaction) => Promise<Result>,
  ) => Promise<Exclude<Result, Verdict>>
}

/** The schedule that a run comes from. */
export interface ScheduleRef {
  /** Its own, also when another schedule gets its name. */
  readonly id: string
  /** What calls take. Of one that was deleted too long ago for the audit record to know it, the id. */
  readonly name: string
}

/** The occurrences that a run makes up for. */
export interface MissedOccurrences {
  /** How many there are. */
  readonly count: number
  /** The oldest of them. */
  readonly first: Date
  /** The newest of them. */
  readonly last: Date
}

/** A transaction that a handler asked for. `enqueue(..., { tx })` takes it too. */
export interface HandlerTransaction {
  /** Runs one statement with `$1`, `$2`, ... as parameters. Values come back as the driver parses them. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
}

/** What a statement of a handler returns. */
export interface QueryResult {
  /** The rows, by the names of their columns. */
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  /** How many rows were returned or changed. */
  readonly rowCount: number
}
