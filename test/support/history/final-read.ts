/**
 * What the database says in one snapshot, after all faults have ended and no worker has anything left to do.
 *
 * Ids are text, claims are digits, instants are whole microseconds since 1970: PostgreSQL's own resolution, which a
 * number holds exactly.
 */
export interface FinalRead {
  /** The database's clock. */
  readonly nowUs: number
  readonly runs: readonly LiveRun[]
  readonly attempts: readonly AttemptRow[]
  readonly deadLetters: readonly DeadLetter[]
  readonly audit: readonly AuditRow[]
  readonly workers: readonly WorkerRow[]
  readonly schedules: readonly ScheduleRow[]
  /** The ledger of occurrences. */
  readonly fires: readonly FireRow[]
  readonly keys: readonly KeyRow[]
  readonly limits: readonly LimitRow[]
  readonly runLimits: readonly RunLimitRow[]
  /** What the application wrote in its transactions with an enqueue; null where it has no such table. */
  readonly marks: readonly MarkRow[] | null
  /** What handlers wrote in the transactions that completed their runs; null where there is no such table. */
  readonly finishes: readonly FinishRow[] | null
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
  readonly job: string
  readonly tenant: string
  readonly state: LiveState
  /** What a parked run waits for: `limit`, `pause`, `handler` or `hold`. */
  readonly parkedFor: string | null
  readonly priority: number
  /** Held while it lives, or for longer. */
  readonly key: string | null
  readonly generation: number
  /** Charged attempts so far. */
  readonly attempt: number
  /** How often it was claimed so far, in all generations. */
  readonly claims: number
  readonly lease: string | null
  readonly claim: string | null
  /** The outcome of the attempt before, or that the run was replayed. */
  readonly cause: string | null
  readonly enqueuedAtUs: number
  readonly dueAtUs: number
  /** Its schedule and its occurrence, both by id. */
  readonly schedule: string | null
  readonly occurrenceUs: number | null
}

export interface AttemptRow {
  readonly run: string
  readonly job: string
  readonly pool: string
  /** Null for the end of a run without a claim. */
  readonly claim: string | null
  readonly attempt: number
  readonly generation: number
  readonly charged: boolean
  readonly outcome: Outcome
  /** On the last attempt of a generation: the end of the run. */
  readonly runState: FinalState | null
  readonly lease: string | null
  readonly enqueuedAtUs: number
  /** The earliest instant at which this attempt might start. */
  readonly dueAtUs: number
  /** Null when the handler did not run, or no worker was left to say when. */
  readonly startedAtUs: number | null
  readonly finishedAtUs: number
  /** The outcome of the attempt before this one, or that the run was replayed; null for the first. */
  readonly cause: string | null
  readonly schedule: string | null
  readonly occurrenceUs: number | null
}

export interface DeadLetter {
  readonly run: string
  readonly generation: number
  /** How many attempts were charged. */
  readonly attempts: number
  readonly claims: number
}

export interface AuditRow {
  /**
   * The operation: the checker knows `run.replay`, `run.discard`, `run.cancel`, `run.expedite` and those of
   * schedules.
   */
  readonly action: string
  readonly atUs: number
  /** The run it changed; null when it changed something else. */
  readonly run: string | null
  /** The schedule it changed, by its id, and what that was before. */
  readonly schedule: string | null
  readonly before: {
    readonly job?: string
    readonly spec?: Readonly<Record<string, unknown>>
    readonly version?: number
    readonly state?: string
  } | null
  /** What the run became, or how a schedule is to make up for its pause, where the caller said so. */
  readonly after?: { readonly priority?: number; readonly misfire?: string } | null
}

export interface WorkerRow {
  readonly lease: string
  readonly dead: boolean
}

export interface ScheduleRow {
  readonly id: string
  readonly name: string
  readonly job: string
  /** As its user wrote it, in JSON. */
  readonly spec: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, unknown>>
  readonly state: string
  readonly version: number
  /** Every occurrence up to it is decided. */
  readonly cursorUs: number
  readonly nextAtUs: number | null
  /** How many runs the schedule says it has made of its occurrences. */
  readonly fired: number
  readonly createdAtUs: number
}

/** An occurrence that made a run, or a stretch of occurrences without one. */
export interface FireRow {
  /** The id of its schedule. */
  readonly schedule: string
  readonly occurrenceUs: number
  /** Above 1 for occurrences that a backfill ran again. */
  readonly generation: number
  readonly outcome: "fired" | "coalesced" | "skipped" | "superseded"
  readonly reason: string | null
  readonly dueAtUs: number | null
  readonly decidedAtUs: number
  readonly run: string | null
  readonly lastUs: number
  readonly count: number
  readonly intoUs: number | null
}

export interface KeyRow {
  readonly tenant: string
  readonly job: string
  readonly key: string
  readonly run: string
  /** Null: its run has not ended. */
  readonly expiresAtUs: number | null
}

export interface LimitRow {
  readonly name: string
  readonly cap: number
}

/** The place of a live run under a limit. */
export interface RunLimitRow {
  readonly run: string
  readonly key: string
  readonly limit: string
  /** Null while it is out of the line. */
  readonly admitted: boolean | null
}

export interface MarkRow {
  readonly mark: string
  readonly run: string
}

export interface FinishRow {
  readonly run: string
  readonly claim: string
}
