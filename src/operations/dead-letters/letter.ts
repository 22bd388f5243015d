/** A dead letter as every door shows it. The words are those of a run. */
import type { ScheduleRef } from "../../job/context.ts"
import { decodePayload } from "../../job/payload.ts"
import { occurrenceKey } from "../../schedule/occurrence-id.ts"
import type { Database } from "../../store/database.ts"
import type { loadLetters } from "../../store/dead-letters/load.ts"
import { schedulesCalled } from "../../store/schedules/called.ts"
import type { Statement } from "../../store/statement.ts"
import { parseInstant, toDate } from "../../time/instant.ts"

/** A run that failed for good. What does not apply or is not known is absent. */
export interface DeadLetter {
  /** The id of the run. */
  readonly id: string
  /** Always `dead`. */
  readonly state: "dead"
  /** The name of its job. */
  readonly job: string
  /** The pool that it was in. */
  readonly pool: string
  /** Its priority. */
  readonly priority: number
  /** On whose behalf it is. */
  readonly tenant?: string
  /** The words to find it by. */
  readonly tags?: readonly string[]
  /** The key that it was enqueued with. */
  readonly key?: string
  /** Its input, as it is stored. */
  readonly input: unknown
  /** The error of its last attempt. */
  readonly error: DeadLetterError
  /** How many attempts of this generation were charged. */
  readonly attempt: number
  /** 1, and one more with each replay. */
  readonly generation: number
  /** When it was enqueued, or replayed for the last time. */
  readonly enqueuedAt: Date
  /** When its last attempt was due. */
  readonly dueAt?: Date
  /** When its last attempt started. */
  readonly startedAt?: Date
  /** When it died. */
  readonly finishedAt: Date
  /** How long its last attempt took. */
  readonly durationMs?: number
  /** The timeout of its own, where it overrides that of its job. */
  readonly timeoutMs?: number
  /** The schedule that made it, and the occurrence that it stands for. */
  readonly schedule?: ScheduleRef & { readonly occurrence?: Date }
  /** The missed occurrences that it makes up for. */
  readonly missed?: { readonly count: number; readonly first: Date; readonly last: Date }
  /** The process that made its last attempt. */
  readonly worker?: string
  /** The same for every attempt and every replay, as outside systems were given it. */
  readonly idempotencyKey: string
  /** The version of the code that failed. */
  readonly version?: string
}

/** Why a run died. */
export interface DeadLetterError {
  /** The code of the error, if it had one. */
  readonly code?: string
  /** Its message. */
  readonly message: string
  /** Its stack. */
  readonly stack?: string
  /** Errors of a job that are likely the same have the same fingerprint. */
  readonly fingerprint: string
}

export type LoadedLetter = typeof loadLetters extends Statement<infer _, infer Row> ? Row : never

/** Rows in public words. Reads the names of their schedules, if there are any. */
export async function lettersOf(database: Database, rows: readonly LoadedLetter[]): Promise<DeadLetter[]> {
  const ids = [...new Set(rows.flatMap(({ schedule }) => schedule ?? []))].filter((id) => UUID.test(id))
  const subjects = ids.map((id) => `schedule:${id}`)
  const called = ids.length === 0 ? [] : await database.run(schedulesCalled, { ids, subjects })
  const names = new Map(called.map(({ id, name }) => [id, name]))
  return rows.map((row) => letterOf(row, names))
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function letterOf(row: LoadedLetter, names: ReadonlyMap<string, string>): DeadLetter {
  const { run: id, job, pool, priority, generation, schedule, occurrence } = row
  return {
    ...{ id, state: "dead", job, pool, priority },
    ...(row.tenant !== "" && { tenant: row.tenant }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) as string[] }),
    ...(row.key !== null && { key: row.key }),
    input: decodePayload(row.input),
    error: errorOf(row),
    ...{ attempt: row.attempts, generation, enqueuedAt: toDate(row.enqueued_at) },
    ...timesOf(row),
    ...(row.timeout_ms !== null && { timeoutMs: row.timeout_ms }),
    ...(schedule !== null && {
      schedule: {
        ...{ id: schedule, name: names.get(schedule) ?? schedule },
        ...(occurrence !== null && { occurrence: toDate(occurrence) }),
      },
    }),
    ...(row.missed !== null && missedOf(row.missed)),
    ...(row.worker !== null && { worker: row.worker }),
    idempotencyKey:
      schedule === null || occurrence === null ? `run:${id}` : occurrenceKey(id, schedule, occurrence),
    ...(row.version !== null && { version: row.version }),
  }
}

function errorOf(row: LoadedLetter): DeadLetterError {
  const { error_code: code, error_message: message, error_stack: stack, fingerprint } = row
  return {
    ...(code !== null && { code }),
    message: message ?? "",
    ...(stack !== null && { stack }),
    fingerprint,
  }
}

function timesOf({ due_at: dueAt, started_at: startedAt, died_at: diedAt }: LoadedLetter) {
  return {
    ...(dueAt !== null && { dueAt: toDate(dueAt) }),
    ...(startedAt !== null && { startedAt: toDate(startedAt), durationMs: diedAt - startedAt }),
    finishedAt: toDate(diedAt),
  }
}

function missedOf(text: string): Pick<DeadLetter, "missed"> {
  const missed = JSON.parse(text) as {
    readonly count: number
    readonly first?: string
    readonly last?: string
  }
  const [first, last] = [parseInstant(missed.first ?? ""), parseInstant(missed.last ?? "")]
  if (first === undefined || last === undefined) return {}
  return { missed: { count: missed.count, first: toDate(first), last: toDate(last) } }
}
