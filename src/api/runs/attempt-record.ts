/** One attempt as history tells it, in public words. */
import { attemptIdOf, claimNameOf } from "../../engine/queue/claimed-run.ts"
import type { ScheduleRef } from "../../job/context.ts"
import { occurrenceKey } from "../../schedule/occurrence-id.ts"
import type { AttemptRow } from "../../store/attempts/by-run.ts"
import type { Database } from "../../store/database.ts"
import { schedulesCalled } from "../../store/schedules/called.ts"
import { toDate } from "../../time/instant.ts"

/** A finished attempt, as history keeps it. */
export interface AttemptRecord {
  /** Names this attempt among all others; its handler knew it as `ctx.attemptId`. */
  readonly id: string
  /** The run that it was a try at. */
  readonly runId: string
  /** 1, and one more with each replay of the run after its death. */
  readonly generation: number
  /** Counted from 1 in each generation; attempts that were not charged share the number of the one that follows. */
  readonly attempt: number
  /** Whether it counts against the attempts that the run may have. */
  readonly charged: boolean
  /** Why there was another attempt. Absent for the first. */
  readonly cause?: string
  /** The job of the run. */
  readonly job: string
  /** The pool that it was executed in. */
  readonly pool: string
  /** On whose behalf. */
  readonly tenant?: string
  /** The schedule that the run comes from. */
  readonly schedule?: ScheduleRef
  /** The planned instant that the run stands for, if it comes from a schedule. */
  readonly occurrence?: Date
  /** The same for every attempt and every replay of the run, as outside systems were given it. */
  readonly idempotencyKey: string
  /** The lease of the process that made it. Absent, like `worker`, when no process ever had the run. */
  readonly lease?: string
  /** The process that made it. */
  readonly worker?: string
  /** The version of the code that made it. */
  readonly version?: string
  /** When the run was enqueued. */
  readonly enqueuedAt: Date
  /** When the attempt was due. */
  readonly dueAt: Date
  /** Absent when the handler did not run, or when the process died without telling. */
  readonly startedAt?: Date
  /** When its end was written down. */
  readonly finishedAt: Date
  /** From start to end, where both are known. */
  readonly durationMs?: number
  /** How it ended. */
  readonly outcome:
    | "succeeded"
    | "failed"
    | "timed_out"
    | "released"
    | "lost"
    | "cancelled"
    | "expired"
    | "snoozed"
  /** The final state of the run, if this was its last attempt. */
  readonly runState?: "succeeded" | "dead" | "cancelled" | "expired" | "discarded"
  /** What went wrong, if something did. */
  readonly error?: { readonly code: string | null; readonly message: string; readonly stack: string | null }
  /** What the handler wrote with `ctx.log`, the oldest first. Absent when it wrote nothing. */
  readonly logs?: readonly AttemptLogLine[]
}

/** One line of a handler, so many milliseconds after its first; or, at the end, how many were too much to keep. */
export type AttemptLogLine =
  | { readonly afterMs: number; readonly message: string; readonly data?: unknown }
  | { readonly dropped: number }

/** Rows of history in public words. Asks what their schedules are called, where there are any. */
export async function attemptRecords(
  database: Database,
  rows: readonly AttemptRow[],
): Promise<AttemptRecord[]> {
  const given = [...new Set(rows.flatMap(({ schedule }) => schedule ?? []))]
  const ids = given.filter((id) => UUID.test(id))
  if (ids.length === 0) return rows.map((row) => attemptRecord(row, new Map()))
  const called = await database.run(schedulesCalled, { ids, subjects: ids.map((id) => `schedule:${id}`) })
  const names = new Map(called.map(({ id, name }) => [id, name]))
  return rows.map((row) => attemptRecord(row, names))
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function attemptRecord(row: AttemptRow, names: ReadonlyMap<string, string>): AttemptRecord {
  const { error_code: code, error_message: message, error_stack: stack } = row
  const known = <T, R>(value: T | null, tell: (value: T) => R): R | undefined =>
    value === null ? undefined : tell(value)
  return withoutGaps({
    id:
      row.claim === null
        ? `${row.run}.-`
        : attemptIdOf({ id: row.run, claimName: claimNameOf({ claim: row.claim }) }),
    runId: row.run,
    generation: row.generation,
    attempt: row.attempt,
    charged: row.charged,
    cause: row.cause ?? undefined,
    job: row.job,
    pool: row.pool,
    tenant: row.tenant === "" ? undefined : row.tenant,
    schedule: known(row.schedule, (id) => ({ id, name: names.get(id) ?? id })),
    occurrence: known(row.occurrence, toDate),
    idempotencyKey: idempotencyKeyOf(row),
    lease: row.lease ?? undefined,
    worker: row.worker ?? undefined,
    version: row.version ?? undefined,
    enqueuedAt: toDate(row.enqueued_at),
    dueAt: toDate(row.due_at),
    startedAt: known(row.started_at, toDate),
    finishedAt: toDate(row.finished_at),
    durationMs: known(row.started_at, (startedAt) => row.finished_at - startedAt),
    // The table's constraints allow these words and no others.
    outcome: row.outcome as AttemptRecord["outcome"],
    runState: known(row.run_state, (state) => state as NonNullable<AttemptRecord["runState"]>),
    error: known(message, (text) => ({ code, message: text, stack })),
    logs: known(row.logs, (text) => JSON.parse(text) as readonly AttemptLogLine[]),
  })
}

function idempotencyKeyOf({ run, schedule, occurrence }: AttemptRow): string {
  if (schedule === null || occurrence === null) return `run:${run}`
  return occurrenceKey(run, schedule, occurrence)
}

type Gapless<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** What is not known is not there, rather than there and undefined. */
function withoutGaps<T extends object>(record: T): Gapless<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Gapless<T>
}
