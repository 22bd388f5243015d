/** The public record of a finished attempt, made from a row of history. */
import { attemptIdOf, claimNameOf } from "../../engine/queue/claimed-run.ts"
import type { ScheduleRef } from "../../job/context.ts"
import { occurrenceKey } from "../../schedule/occurrence-id.ts"
import { afterDeath } from "../../store/attempts/after-death.ts"
import type { AttemptRow } from "../../store/attempts/by-run.ts"
import type { Database } from "../../store/database.ts"
import { schedulesCalled } from "../../store/schedules/called.ts"
import { toDate } from "../../time/instant.ts"

/** A finished attempt, as history keeps it. */
export interface AttemptRecord {
  /** The id of the attempt. Its handler had it as `ctx.attemptId`. */
  readonly id: string
  /** The id of the run. */
  readonly runId: string
  /** 1, and one more after each replay of the run. */
  readonly generation: number
  /** The number of the attempt, from 1 in each generation. An uncharged attempt has the number of the next one. */
  readonly attempt: number
  /** Whether it counts against the allowed attempts of the run. */
  readonly charged: boolean
  /** Why there was another attempt. Absent for the first. */
  readonly cause?: string
  /** The job of the run. */
  readonly job: string
  /** The pool that executed it. */
  readonly pool: string
  /** The tenant of the run. */
  readonly tenant?: string
  /** The schedule that made the run. */
  readonly schedule?: ScheduleRef
  /** The occurrence of the run, if a schedule made it. */
  readonly occurrence?: Date
  /** The key for outside systems, the same for all attempts and replays of the run. */
  readonly idempotencyKey: string
  /** The lease of its process. Absent, like `worker`, if no process ever claimed the run. */
  readonly lease?: string
  /** The process that made the attempt. */
  readonly worker?: string
  /** The version of the code that made the attempt. */
  readonly version?: string
  /** When the run was enqueued. */
  readonly enqueuedAt: Date
  /** When the attempt was due. */
  readonly dueAt: Date
  /** Absent if the handler did not run, or if the process died before it reported the start. */
  readonly startedAt?: Date
  /** When the end was written. */
  readonly finishedAt: Date
  /** The time from start to end, if both are known. */
  readonly durationMs?: number
  /** How the attempt ended. */
  readonly outcome:
    | "succeeded"
    | "failed"
    | "timed_out"
    | "released"
    | "lost"
    | "cancelled"
    | "expired"
    | "snoozed"
  /** The final state of the run, if this was its last attempt. A death ends a run only until it is replayed. */
  readonly runState?: "succeeded" | "dead" | "cancelled" | "expired" | "discarded"
  /** The error of the attempt. */
  readonly error?: { readonly code?: string; readonly message: string; readonly stack?: string }
  /** The lines that the handler wrote with `ctx.log`, oldest first. Absent if there are none. */
  readonly logs?: readonly AttemptLogLine[]
}

/** What the handler logged in one attempt. */
export interface AttemptLogs extends Pick<AttemptRecord, "generation" | "attempt" | "startedAt"> {
  /** The id of the attempt. */
  readonly attemptId: string
  /** Its lines, oldest first. */
  readonly lines: readonly AttemptLogLine[]
}

/** One line of a handler, with its milliseconds after the first line. The last entry may count dropped lines. */
export type AttemptLogLine =
  | { readonly afterMs: number; readonly message: string; readonly data?: unknown }
  | { readonly dropped: number }

/** Makes records of rows of history. Reads the names of their schedules, if there are any. */
export async function attemptRecords(
  database: Database,
  rows: readonly AttemptRow[],
): Promise<AttemptRecord[]> {
  const stored = await withDeathsOfToday(database, rows)
  const schedules = [...new Set(stored.flatMap(({ schedule }) => schedule ?? []))]
  const ids = schedules.filter((id) => UUID.test(id))
  if (ids.length === 0) return stored.map((row) => attemptRecord(row, new Map()))
  const called = await database.run(schedulesCalled, { ids, subjects: ids.map((id) => `schedule:${id}`) })
  const names = new Map(called.map(({ id, name }) => [id, name]))
  return stored.map((row) => attemptRecord(row, names))
}

/** The rows as of now: a death does not end a run that was replayed, and a letter that is gone was discarded. */
async function withDeathsOfToday(
  database: Database,
  rows: readonly AttemptRow[],
): Promise<readonly AttemptRow[]> {
  const dead = rows.filter(({ run_state: state }) => state === "dead")
  if (dead.length === 0) return rows
  const ids = [...new Set(dead.map(({ run }) => run))]
  // Attempts of a later generation end after the death.
  const since = dead.reduce((least, { finished_at: at }) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const found = new Map((await database.run(afterDeath, { ids, since })).map((row) => [row.id, row]))
  return rows.map((row) => {
    const now = row.run_state === "dead" ? found.get(row.run) : undefined
    if (!now) return row
    if (now.generation > row.generation) return { ...row, run_state: null }
    return now.is_kept ? row : { ...row, run_state: "discarded" }
  })
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
    error: known(message, (text) => ({
      ...(code !== null && { code }),
      message: text,
      ...(stack !== null && { stack }),
    })),
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

/** Removes properties that are `undefined`, so that unknown values are absent. */
function withoutGaps<T extends object>(record: T): Gapless<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Gapless<T>
}
