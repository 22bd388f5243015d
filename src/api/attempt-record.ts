/** One attempt as history tells it, in public words. */
import type { listAttemptsOfRun } from "../store/attempts/list-of-run.ts"
import type { Statement } from "../store/statement.ts"
import { type DateValue, toDate } from "../time/instant.ts"

export interface AttemptRecord {
  readonly runId: string
  /** Counted from 1; attempts that were not charged share the number of the one that follows. */
  readonly attempt: number
  readonly job: string
  readonly pool: string
  /** The lease of the process that made it. */
  readonly lease: string
  readonly enqueuedAt: DateValue
  readonly dueAt: DateValue
  /** Absent when the process died without telling. */
  readonly startedAt?: DateValue
  readonly finishedAt: DateValue
  readonly outcome: "succeeded" | "failed" | "timed_out" | "released" | "lost"
  /** The final state of the run, if this was its last attempt. */
  readonly runState?: "succeeded" | "dead" | "cancelled" | "expired" | "discarded"
  readonly error?: { readonly code: string | null; readonly message: string; readonly stack: string | null }
}

type Row = typeof listAttemptsOfRun extends Statement<infer _, infer R> ? R : never

export function attemptRecord(row: Row): AttemptRecord {
  const { error_code: code, error_message: message, error_stack: stack } = row
  return {
    runId: row.run,
    attempt: row.attempt,
    job: row.job,
    pool: row.pool,
    lease: row.lease,
    enqueuedAt: toDate(row.enqueued_at),
    dueAt: toDate(row.due_at),
    ...(row.started_at !== null && { startedAt: toDate(row.started_at) }),
    finishedAt: toDate(row.finished_at),
    // The table's constraints allow these words and no others.
    outcome: row.outcome as AttemptRecord["outcome"],
    ...(row.run_state !== null && { runState: row.run_state as NonNullable<AttemptRecord["runState"]> }),
    ...(message !== null && { error: { code, message, stack } }),
  }
}
