/** The public records of schedules and of their occurrences. */
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { decodePayload } from "../../job/payload.ts"
import { readSettings } from "../../job/reconcile.ts"
import { readPolicy, type SourcedPolicy } from "../../job/schedule-policy.ts"
import { readSchedule } from "../../schedule/schedule.ts"
import type { ScheduleState } from "../../schedule/schedule-state.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import { jobFactsOf } from "../../schedule/stored.ts"
import { scheduleWords } from "../../schedule/words.ts"
import type { listFires } from "../../store/fires/list.ts"
import type { Statement } from "../../store/statement.ts"
import { toDate } from "../../time/instant.ts"
import type { StoredSettings } from "./options.ts"

/** A schedule in its present state. */
export interface ScheduleRecord {
  /** The id of the schedule. Edits keep it. */
  readonly id: string
  /** The name of the schedule, unique within its tenant. */
  readonly name: string
  /** The tenant of the schedule and of its runs. */
  readonly tenant?: string
  /** The name of the job of its runs. */
  readonly job: string
  /** Its times, as users wrote them. */
  readonly spec: ScheduleSpec
  /** Its times in English. Absent if this process does not know its time zone. */
  readonly words?: string
  /** The input of its runs. */
  readonly input: unknown
  /** Its other settings. */
  readonly settings: StoredSettings
  /** Its misfire and overlap policies, each with its source: the schedule, its job, or the default. */
  readonly policy: SourcedPolicy
  /** Its state. */
  readonly state: ScheduleState
  /** Its version. Every edit adds one. */
  readonly version: number
  /** Its next occurrence, and when that is due. */
  readonly next?: { readonly occurrence: Date; readonly due: Date }
  /** How many of its occurrences have made runs. */
  readonly fired: number
  /** How many of its runs are unfinished. */
  readonly live: number
  /** When the pause began. */
  readonly pausedAt?: Date
  /** When the pause ends by itself. */
  readonly resumeAt?: Date
  /** Why it is paused, or what its fault is. */
  readonly cause?: unknown
  /** When it was created. */
  readonly createdAt: Date
  /** When it was last changed. */
  readonly changedAt: Date
  /** For a schedule declared in code: the name of the application, if it has one, and its latest version. */
  readonly declared?: { readonly application?: string; readonly version?: string }
}

/** A row of the ledger: one occurrence, or a stretch of occurrences in a row that made no run. */
export interface FireRecord {
  /** The occurrence, or the first of a stretch. For a run made by `runNow`, the time of that call. */
  readonly occurrence: Date
  /** The last occurrence of the stretch. Equal to `occurrence` for a single one. */
  readonly last: Date
  /** How many occurrences the row stands for. */
  readonly count: number
  /** 1, and one more for each backfill that ran the occurrence again. */
  readonly generation: number
  /** True for a run made by `runNow`. It stands for no occurrence. */
  readonly byHand?: true
  /** What happened to the occurrences. */
  readonly outcome: "fired" | "coalesced" | "skipped" | "superseded"
  /** Why there is no run. */
  readonly reason?: string
  /** The occurrence that makes up for the stretch. */
  readonly into?: Date
  /** When the run was due. */
  readonly due?: Date
  /** When the schedule decided. */
  readonly decidedAt: Date
  /** The id of the run. */
  readonly run?: string
  /** The present state of the run, or its final state while history keeps it. */
  readonly state?: string
  /** How many attempts the run has had. */
  readonly attempts?: number
}

type FireRow = typeof listFires extends Statement<infer _, infer R> ? R : never

export function scheduleRecord(row: Omit<StoredSchedule, "left_out">): ScheduleRecord {
  const settings = JSON.parse(row.settings) as StoredSettings
  const spec = JSON.parse(row.spec) as ScheduleSpec
  const words = wordsOf(spec)
  return {
    id: row.id,
    name: row.name,
    ...(row.tenant !== "" && { tenant: row.tenant }),
    job: row.job,
    spec,
    ...(words !== undefined && { words }),
    input: decodePayload(row.input),
    settings,
    policy: policyOf(row, settings),
    // The table's constraint allows these words and no others.
    state: row.state as ScheduleState,
    version: row.version,
    ...(row.next_occurrence !== null &&
      row.next_at !== null && {
        next: { occurrence: toDate(row.next_occurrence), due: toDate(row.next_at) },
      }),
    fired: Number(row.fired),
    live: row.live,
    ...(row.paused_at !== null && { pausedAt: toDate(row.paused_at) }),
    ...(row.resume_at !== null && { resumeAt: toDate(row.resume_at) }),
    ...(row.cause !== null && { cause: JSON.parse(row.cause) as unknown }),
    createdAt: toDate(row.created_at),
    changedAt: toDate(row.changed_at),
    ...(row.declared_by !== null && {
      declared: {
        ...(row.declared_by !== "" && { application: row.declared_by }),
        ...(row.declared_version !== null && { version: row.declared_version }),
      },
    }),
  }
}

/** A schedule that this process cannot read is shown all the same. */
function wordsOf(spec: ScheduleSpec): string | undefined {
  try {
    return scheduleWords(readSchedule(spec))
  } catch {
    return undefined
  }
}

function policyOf(
  { job_settings: job }: Pick<StoredSchedule, "job_settings">,
  settings: StoredSettings,
): SourcedPolicy {
  return readPolicy(settings, jobFactsOf(job === null ? settings.job : readSettings(job)))
}

export function fireRecord(fire: FireRow): FireRecord {
  return {
    occurrence: toDate(fire.occurrence),
    last: toDate(fire.last),
    count: Number(fire.count),
    // Those by hand count down from 0.
    generation: Math.max(1, fire.generation),
    ...(fire.generation < 1 && { byHand: true }),
    // The table's constraint allows these words and no others.
    outcome: fire.outcome as FireRecord["outcome"],
    ...(fire.reason !== null && { reason: fire.reason }),
    ...(fire.into_occurrence !== null && { into: toDate(fire.into_occurrence) }),
    ...(fire.due_at !== null && { due: toDate(fire.due_at) }),
    decidedAt: toDate(fire.decided_at),
    ...(fire.run !== null && { run: fire.run }),
    ...(fire.run_state !== null && { state: fire.run_state, attempts: fire.attempts }),
  }
}
