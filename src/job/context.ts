/** The second argument of a handler: facts about its attempt, and calls that belong to it. */
import type { Verdict } from "./verdict.ts"

/** Members are created on first access. Destructure them (`const { signal, log } = ctx`); do not copy the object. */
export interface JobContext {
  /** The id of the run. */
  readonly runId: string
  /** The id of this attempt. History stores it with the attempt. */
  readonly attemptId: string
  /** The number of this attempt, counted from 1. Attempts that do not count, such as a snooze, do not raise it. */
  readonly attempt: number
  /** 1 for a new run. Each replay of the dead run adds 1. */
  readonly generation: number
  /** The name of the job. */
  readonly job: string
  /** The pool of the run. */
  readonly pool: string
  /** The tenant of the run, if it has one. */
  readonly tenant: string | undefined
  /** When the run was due. */
  readonly due: Date
  /** The schedule that the run comes from. */
  readonly schedule: ScheduleRef | undefined
  /** The planned time of the occurrence that the run belongs to. */
  readonly occurrence: Date | undefined
  /** Missed occurrences that this run replaces. They came due while no scheduler was running. */
  readonly missed: MissedOccurrences | undefined
  /** The tags of the run. */
  readonly tags: readonly string[]
  /**
   * The same for every attempt and every replay of the run. Pass it to external systems, so that they recognise a
   * side effect that is repeated after a crash.
   */
  readonly idempotencyKey: string
  /** Grows with every claim of this run. An external system can reject a call with a lower token than it has seen. */
  readonly fencingToken: number
  /** The result of the last successful run of the same schedule. */
  readonly lastResult: unknown
  /** The error of the last failed attempt. At the first attempt: the error of the schedule's last run, if it died. */
  readonly lastFailure: { readonly code: string | null; readonly message: string } | undefined
  /**
   * Aborts when the handler should end: its timeout is over, the run was cancelled, the lease is lost, or the process
   * stops. The reason is an `AttemptAborted` with the matching code.
   */
  readonly signal: AbortSignal
  /** Adds a line to the record of this attempt, up to 256 KiB in all. Carillon counts and drops further lines. */
  readonly log: (message: string, data?: unknown) => void
  /** Stores the progress of the work, as JSON. Carillon writes at most once a second, and always the last value. */
  readonly progress: (value: unknown) => void
  /**
   * Opens a transaction on Carillon's own database and completes the run in it: the writes of `body` through `tx` and
   * the end of the run commit together or not at all. The return value of `body` is the result of the run.
   *
   * A verdict (`Retry`, `Snooze`, `Cancel`, `Bury`) that `body` returns or throws rolls the transaction back, and
   * `transaction` throws it. After the commit the run has succeeded, however late the handler returns. The attempt
   * waits for a transaction that its handler does not await, and fails if the transaction fails.
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
  /** The id of the schedule. Another schedule may get the same name later, never the same id. */
  readonly id: string
  /** The name of the schedule. For a schedule deleted so long ago that the audit record lacks it, the id. */
  readonly name: string
}

/** Missed occurrences that one run replaces. */
export interface MissedOccurrences {
  /** How many there are. */
  readonly count: number
  /** The oldest of them. */
  readonly first: Date
  /** The newest of them. */
  readonly last: Date
}

/** The transaction of a handler. `enqueue(..., { tx })` accepts it. */
export interface HandlerTransaction {
  /** Runs one statement with parameters `$1`, `$2`, and so on. The driver parses the returned values. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<QueryResult>
}

/** The result of a handler's statement. */
export interface QueryResult {
  /** The rows, as objects keyed by column name. */
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  /** How many rows were returned or changed. */
  readonly rowCount: number
}
