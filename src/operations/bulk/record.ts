/** A bulk operation as every door shows it. */
import type { BulkCounts } from "../../observe/bulk-counts.ts"
import type { findBulk } from "../../store/bulk/find.ts"
import type { Statement } from "../../store/statement.ts"
import { toDate } from "../../time/instant.ts"
import type { BulkAction, BulkActionOptions } from "./actions.ts"

/** One action on all runs that meet a filter. Any process carries it on. What does not apply is absent. */
export interface BulkOperation extends BulkActionOptions {
  /** The id of the operation. */
  readonly id: string
  /** What it does with each run. */
  readonly action: BulkAction
  /** Which runs it is for, as text. Relative times are counted from `startedAt`. */
  readonly filter: string
  /** How many runs it changes at most, as in "50/s". */
  readonly pace?: string
  /** Who started it. */
  readonly actor: string
  /** Why, if a reason was given. */
  readonly reason?: string
  /** `paused` and `aborted` are decisions of operators. `done`: it has come to every run. */
  readonly state: BulkState
  /** How far it has come. */
  readonly progress: BulkCounts
  /** The first 100 runs that could not be changed. `progress.failed` counts all. */
  readonly errors: readonly BulkFailure[]
  /** When it was started. It changes no run that was enqueued later. */
  readonly startedAt: Date
  /** When it ended or was aborted. */
  readonly finishedAt?: Date
}

/** The state of a bulk operation. */
export type BulkState = "running" | "paused" | "aborted" | "done"

/** A run that a bulk operation could not change. */
export interface BulkFailure {
  /** The id of the run. */
  readonly run: string
  /** The code of the error. */
  readonly code: string
  /** What went wrong. */
  readonly message: string
}

export type BulkRow = typeof findBulk extends Statement<infer _, infer Row> ? Row : never

export function bulkOf(row: BulkRow): BulkOperation {
  const { id, filter, pace, actor, reason, finished_at: finishedAt } = row
  return {
    // The table's constraint allows these states and no others, and calls start no other actions.
    ...{ id, action: row.action as BulkAction, filter, ...optionsOf(row) },
    ...(pace !== null && { pace }),
    ...{ actor, ...(reason !== "" && { reason }), state: row.state as BulkState },
    progress: progressOf(row),
    errors: errorsOf(row),
    startedAt: toDate(row.started_at),
    ...(finishedAt !== null && { finishedAt: toDate(finishedAt) }),
  }
}

export function progressOf({
  done,
  skipped,
  failed,
}: Pick<BulkRow, "done" | "skipped" | "failed">): BulkCounts {
  return { seen: done + skipped + failed, done, skipped, failed }
}

export function errorsOf({ errors }: Pick<BulkRow, "errors">): readonly BulkFailure[] {
  return JSON.parse(errors) as readonly BulkFailure[]
}

export function optionsOf({ options }: Pick<BulkRow, "options">): BulkActionOptions {
  return JSON.parse(options) as BulkActionOptions
}
