/**
 * What the database says in one snapshot, after all faults have ended and no worker finds anything more to
 * do.
 *
 * Ids are text, claims are digits, instants are whole microseconds since 1970: PostgreSQL's own resolution,
 * which a number holds exactly.
 */
export interface FinalRead {
  readonly runs: readonly LiveRun[]
  readonly attempts: readonly AttemptRow[]
  readonly deadLetters: readonly DeadLetter[]
  readonly audit: readonly AuditRow[]
  readonly workers: readonly WorkerRow[]
}

export type LiveState = "waiting" | "parked" | "ready" | "running"
export type FinalState = "succeeded" | "dead" | "cancelled" | "expired" | "discarded"
export type Outcome =
  | "succeeded"
  | "failed"
  | "timed_out"
  | "snoozed"
  | "released"
  | "lost"
  | "cancelled"
  | "expired"

export interface LiveRun {
  readonly run: string
  readonly state: LiveState
  readonly generation: number
  /** Tries that were charged so far. */
  readonly attempt: number
  readonly lease: string | null
  readonly claim: string | null
}

export interface AttemptRow {
  readonly run: string
  /** Null for the end of a run that nobody had claimed. */
  readonly claim: string | null
  readonly attempt: number
  readonly generation: number
  readonly charged: boolean
  readonly outcome: Outcome
  /** On the last attempt of a generation: what became of the run. */
  readonly runState: FinalState | null
  readonly lease: string | null
  /** Null when the handler did not run, or nobody was left to say when. */
  readonly startedAtUs: number | null
  readonly finishedAtUs: number
  /** What became of the attempt before this one, or that the run was replayed; null for the first. */
  readonly cause: string | null
}

export interface DeadLetter {
  readonly run: string
  readonly generation: number
  /** How many attempts were charged. */
  readonly attempts: number
}

export interface AuditRow {
  /** What was done: the checker knows `run.replay`, `run.discard` and `run.cancel`. */
  readonly action: string
  /** The run it was done to; null when it was something else. */
  readonly run: string | null
}

export interface WorkerRow {
  readonly lease: string
  readonly dead: boolean
}
