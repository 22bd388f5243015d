/** A run as every door shows it: the same record, whether it lives, is dead or has ended. */
import type { ScheduleRef } from "../../job/context.ts"
import { decodePayload } from "../../job/payload.ts"
import type { RunState } from "../../queue/run-state.ts"
import { occurrenceKey } from "../../schedule/occurrence-id.ts"
import type { Database } from "../../store/database.ts"
import type { loadRuns } from "../../store/runs/load.ts"
import { schedulesCalled } from "../../store/schedules/called.ts"
import type { Statement } from "../../store/statement.ts"
import { parseInstant, toDate } from "../../time/instant.ts"

/** A run in any state. What does not apply or is not known is absent. */
export interface Run {
  /** The id of the run. */
  readonly id: string
  /** The state that it is in. */
  readonly state: RunState
  /** The name of its job. */
  readonly job: string
  /** The pool that it is in. */
  readonly pool: string
  /** Higher ones go first. */
  readonly priority: number
  /** On whose behalf it is. */
  readonly tenant?: string
  /** The words to find it by. */
  readonly tags?: readonly string[]
  /** The key that it was enqueued with. */
  readonly key?: string
  /** Its input, as it is stored. */
  readonly input: unknown
  /** What its handler returned. */
  readonly result?: unknown
  /** The error of its last attempt that had one. */
  readonly error?: RunFailure
  /** How many attempts it has had, the current one included. Attempts that were not charged do not count. */
  readonly attempt: number
  /** 1, and one more with each replay. */
  readonly generation: number
  /** When it was enqueued. */
  readonly enqueuedAt: Date
  /** When it is or was due. */
  readonly dueAt: Date
  /** If it has not started by then, it expires. */
  readonly startBy?: Date
  /** When its last attempt started. Known once that has ended. */
  readonly startedAt?: Date
  /** When it ended. */
  readonly finishedAt?: Date
  /** How long its last attempt took. */
  readonly durationMs?: number
  /** The timeout of its own, where it overrides that of its job. */
  readonly timeoutMs?: number
  /** The schedule that made it, and the occurrence that it stands for. */
  readonly schedule?: ScheduleRef & { readonly occurrence?: Date }
  /** The missed occurrences that it makes up for. */
  readonly missed?: { readonly count: number; readonly first: Date; readonly last: Date }
  /**
   * What a parked run waits for: a place under a `limit`; the end of the `pause` of its job, its pool or everything, of
   * its `tenant`, or of its schedule (`hold`); or a worker that has a `handler` for it.
   */
  readonly parkedFor?: "limit" | "pause" | "tenant" | "handler" | "hold"
  /** The worker that has it, or had it last. */
  readonly worker?: string
  /** Until when that worker has it, if it does not renew its lease. */
  readonly leaseUntil?: Date
  /** What its handler last said about how far it has come. */
  readonly progress?: unknown
  /** The same for every attempt and every replay, as outside systems were given it. */
  readonly idempotencyKey: string
  /** The run that it was made from by `rerun` or `clone`, as long as the audit knows. */
  readonly rerunOf?: string
  /** The version of the code that made its last attempt. */
  readonly version?: string
}

/** What went wrong with an attempt. */
export interface RunFailure {
  /** The code of the error, if it had one. */
  readonly code?: string
  /** Its message. */
  readonly message: string
  /** Its stack, if the run is dead or has ended. */
  readonly stack?: string
  /** The same for errors that are likely the same. */
  readonly fingerprint?: string
}

export type LoadedRun = typeof loadRuns extends Statement<infer _, infer Row> ? Row : never

/** Rows in public words. Asks what their schedules are called, where there are any. */
export async function runsOf(database: Database, rows: readonly LoadedRun[]): Promise<Run[]> {
  const ids = [...new Set(rows.flatMap(({ schedule }) => schedule ?? []))].filter((id) => UUID.test(id))
  const subjects = ids.map((id) => `schedule:${id}`)
  const called = ids.length === 0 ? [] : await database.run(schedulesCalled, { ids, subjects })
  const names = new Map(called.map(({ id, name }) => [id, name]))
  return rows.map((row) => runOf(row, names))
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function runOf(row: LoadedRun, names: ReadonlyMap<string, string>): Run {
  const { id, job, pool, priority, attempt, generation } = row
  return {
    // The tables' constraints allow these words and no others.
    ...{ id, state: row.state as RunState, job, pool, priority },
    ...(row.tenant !== "" && { tenant: row.tenant }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) as string[] }),
    ...(row.key !== null && { key: row.key }),
    input: decodePayload(row.input),
    ...(row.result !== null && { result: decodePayload(row.result) }),
    ...(row.error_message !== null && { error: failureOf(row, row.error_message) }),
    ...{ attempt, generation, enqueuedAt: toDate(row.enqueued_at), dueAt: toDate(row.due_at) },
    ...timesOf(row),
    ...(row.timeout_ms !== null && { timeoutMs: row.timeout_ms }),
    ...(row.schedule !== null && { schedule: scheduleOf(row, row.schedule, names) }),
    ...(row.missed !== null && missedOf(row.missed)),
    ...(row.parked_for !== null && { parkedFor: row.parked_for as NonNullable<Run["parkedFor"]> }),
    ...(row.worker !== null && { worker: row.worker }),
    ...(row.lease_until !== null && { leaseUntil: toDate(row.lease_until) }),
    ...(row.progress !== null && { progress: decodePayload(row.progress) }),
    idempotencyKey: idempotencyKeyOf(row),
    ...(row.rerun_of !== null && { rerunOf: row.rerun_of }),
    ...(row.version !== null && { version: row.version }),
  }
}

function timesOf({ start_by: startBy, started_at: startedAt, finished_at: finishedAt }: LoadedRun) {
  return {
    ...(startBy !== null && { startBy: toDate(startBy) }),
    ...(startedAt !== null && { startedAt: toDate(startedAt) }),
    ...(finishedAt !== null && { finishedAt: toDate(finishedAt) }),
    ...(startedAt !== null && finishedAt !== null && { durationMs: finishedAt - startedAt }),
  }
}

function failureOf(
  { error_code: code, error_stack: stack, fingerprint }: LoadedRun,
  message: string,
): RunFailure {
  return {
    ...(code !== null && { code }),
    message,
    ...(stack !== null && { stack }),
    ...(fingerprint !== null && { fingerprint }),
  }
}

function scheduleOf({ occurrence }: LoadedRun, id: string, names: ReadonlyMap<string, string>) {
  return { id, name: names.get(id) ?? id, ...(occurrence !== null && { occurrence: toDate(occurrence) }) }
}

function missedOf(text: string): Pick<Run, "missed"> {
  const missed = JSON.parse(text) as {
    readonly count: number
    readonly first?: string
    readonly last?: string
  }
  const [first, last] = [parseInstant(missed.first ?? ""), parseInstant(missed.last ?? "")]
  if (first === undefined || last === undefined) return {}
  return { missed: { count: missed.count, first: toDate(first), last: toDate(last) } }
}

function idempotencyKeyOf({ id, schedule, occurrence }: LoadedRun): string {
  return schedule === null || occurrence === null ? `run:${id}` : occurrenceKey(id, schedule, occurrence)
}
