/** The calls of workers in other languages: what they take and what they answer. */
import type { Duration } from "../../time/duration.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"

/** Executes runs in programs that have no Carillon of their own, such as a worker in Python behind HTTP. */
export interface Work {
  /**
   * Claims runs under the lease of a worker, and renews the lease. Without a `lease` it opens one for `worker`. With
   * `wait` it answers when there are runs, or when the time is over. Throws `LEASE_LOST` if the lease is over.
   */
  readonly claim: (options: WorkClaimOptions & CallOptions) => Promise<ClaimedWork>
  /**
   * Renews the lease, and compares the runs that the worker believes to hold with those that it holds. Throws
   * `LEASE_LOST` if the lease is over.
   */
  readonly heartbeat: (options: WorkHeartbeatOptions & CallOptions) => Promise<WorkHeartbeat>
  /**
   * Writes how attempts ended. A repeated call writes nothing and answers the same. An end of a run that the worker no
   * longer holds changes nothing. Throws `LEASE_LOST` if the lease is over.
   */
  readonly settle: (options: WorkSettleOptions & CallOptions) => Promise<WorkSettled>
}

/** Which runs a worker claims. */
export interface WorkClaimOptions extends ByWhom {
  /** The lease of an earlier answer. Absent for the first claim. */
  readonly lease?: string
  /** Who the worker is. Needed without a lease, and refused with one. */
  readonly worker?: WorkerDescription
  /** The most runs to claim. Give as many as the worker starts at once. @default 1 */
  readonly limit?: number
  /** How long to wait for runs, up to a minute. @default no time */
  readonly wait?: Duration
  /** How long the worker may be silent before other workers take its runs. @default "60s" */
  readonly leaseFor?: Duration
}

/** What a worker says of itself. */
export interface WorkerDescription {
  /** Its name in lists and histories. */
  readonly name: string
  /** The jobs that it has handlers for. A job that no process has declared gets the default settings. */
  readonly jobs: readonly string[]
  /** The pools that it serves. @default ["default"] */
  readonly pools?: readonly string[]
  /** The version of its code. */
  readonly version?: string
}

/** What a claim answers. */
export interface ClaimedWork {
  /** The lease, for the next calls. */
  readonly lease: string
  /** How long the lease is from now on. */
  readonly leaseMs: number
  /** The claimed runs, in the order in which they should start. Empty if there are none. */
  readonly runs: readonly WorkRun[]
}

/** A run that a worker has claimed. */
export interface WorkRun {
  /** The id of the run. */
  readonly id: string
  /** Proves the claim: give it back with every call about the run. */
  readonly claim: string
  /** The name of its job. */
  readonly job: string
  /** The pool that it was claimed from. */
  readonly pool: string
  /** Its input. */
  readonly input: unknown
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** The id of this attempt. */
  readonly attemptId: string
  /** 1, and one more after each replay. */
  readonly generation: number
  /** The tenant that it belongs to. */
  readonly tenant?: string
  /** The words for finding it. */
  readonly tags?: readonly string[]
  /** When it was due. */
  readonly dueAt: Date
  /** How long the attempt may take. The worker sees to it. */
  readonly timeoutMs?: number
  /** The same for every attempt of the run, for outside systems. */
  readonly idempotencyKey: string
  /** Grows with every claim of the run, for outside systems. */
  readonly fencingToken: number
  /** How its last failed attempt ended. */
  readonly lastFailure?: { readonly code: string | null; readonly message: string }
}

/** A run that a worker holds. */
export interface HeldWork {
  /** The id of the run. */
  readonly id: string
  /** The proof of the claim, as `claim` answered it. */
  readonly claim: string
}

/** What a worker says with a heartbeat. */
export interface WorkHeartbeatOptions {
  /** The lease of the worker. */
  readonly lease: string
  /** Every run that the worker holds. @default none */
  readonly runs?: readonly HeldWork[]
  /** How long the lease is from now on. @default "60s" */
  readonly leaseFor?: Duration
  /** The worker is about to end and holds nothing any more. @default false */
  readonly leaving?: boolean
}

/** What a heartbeat answers. */
export interface WorkHeartbeat {
  /** How long the lease is from now on. */
  readonly leaseMs: number
  /** The worker no longer holds these. It must stop them, and their ends change nothing. */
  readonly lost: readonly string[]
  /** An operator or a newer run ends these. The worker must stop them and settle them as `cancelled`. */
  readonly cancelled: readonly { readonly id: string; readonly actor?: string; readonly reason?: string }[]
  /**
   * The worker holds these and did not list them. An answer to a claim may be on its way. If a run stands here twice in
   * a row, that answer was lost: settle the run as `released`.
   */
  readonly unlisted: readonly HeldWork[]
}

/** Ends of attempts. */
export interface WorkSettleOptions {
  /** The lease of the worker. */
  readonly lease: string
  /** Up to 500, one for each run. */
  readonly ends: readonly WorkEnd[]
  /** How long the lease is from now on. @default "60s" */
  readonly leaseFor?: Duration
}

/** How an attempt ended. */
export interface WorkEnd extends HeldWork {
  /** `released` gives the run back without a charge. */
  readonly outcome: "succeeded" | "failed" | "timed_out" | "cancelled" | "snoozed" | "released"
  /** What a succeeded run returned. @default null */
  readonly result?: unknown
  /** Needed for `failed`. */
  readonly error?: { readonly message: string; readonly code?: string; readonly stack?: string }
  /** Whether a failed attempt may be tried again. @default true */
  readonly retryable?: boolean
  /** When a failed attempt is tried again, instead of by the settings of the job. */
  readonly retryAfter?: Duration
  /** How long a snoozed run rests. */
  readonly snoozeFor?: Duration
  /** How long the handler ran. @default 0; a released run without it was never tried */
  readonly durationMs?: number
}

/** What became of the runs, in the order of their ends. */
export interface WorkSettled {
  /** How long the lease is from now on. */
  readonly leaseMs: number
  /** Without a state, the worker no longer held the run, and nothing was written. */
  readonly runs: readonly { readonly id: string; readonly state?: string }[]
}
