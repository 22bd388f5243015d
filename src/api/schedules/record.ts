/** Schedules and the records of their occurrences, as users see them. */
import type { StoredSchedule } from "../../engine/schedules/change.ts"
import { decodePayload } from "../../job/payload.ts"
import { readSettings } from "../../job/reconcile.ts"
import { readPolicy, type SourcedPolicy } from "../../job/schedule-policy.ts"
import type { ScheduleState } from "../../schedule/schedule-state.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import { jobFactsOf } from "../../schedule/stored.ts"
import type { listFires } from "../../store/fires/list.ts"
import type { Statement } from "../../store/statement.ts"
import { toDate } from "../../time/instant.ts"
import type { StoredSettings } from "./options.ts"

/** A schedule as it is now. */
export interface ScheduleRecord {
  /** The id of the schedule, which outlives a change of its settings. */
  readonly id: string
  /** Its name, the only one of its tenant. */
  readonly name: string
  /** On whose behalf its runs are. */
  readonly tenant?: string
  /** The name of the job that it makes runs of. */
  readonly job: string
  /** When, as it was written. */
  readonly spec: ScheduleSpec
  /** The input of its runs. */
  readonly input: unknown
  /** What else it says. */
  readonly settings: StoredSettings
  /** What it does about missed and about overlapping occurrences, and who said so: it, its job, or nobody. */
  readonly policy: SourcedPolicy
  /** The state that it is in. */
  readonly state: ScheduleState
  /** One more with every edit. */
  readonly version: number
  /** Its next occurrence, and when that is due. */
  readonly next?: { readonly occurrence: Date; readonly due: Date }
  /** How many runs its occurrences have made. */
  readonly fired: number
  /** How many of its runs are not finished. */
  readonly live: number
  /** Since when it is paused. */
  readonly pausedAt?: Date
  /** When the pause ends by itself. */
  readonly resumeAt?: Date
  /** Why it is paused, or what is wrong with it. */
  readonly cause?: unknown
  /** When it was made. */
  readonly createdAt: Date
  /** When it was last changed. */
  readonly changedAt: Date
  /** There for one that code declares: which application's, where it has a name, and its latest version. */
  readonly declared?: { readonly application?: string; readonly version?: string }
}

/** What became of an occurrence, or of several in a row that made no run. */
export interface FireRecord {
  /** The occurrence, or the first of a stretch of them. Of a run that was asked for by `runNow`, when that was. */
  readonly occurrence: Date
  /** The last of the stretch; the same for a single one. */
  readonly last: Date
  /** How many occurrences it stands for. */
  readonly count: number
  /** One more for each time that a backfill ran the occurrence again. */
  readonly generation: number
  /** True for a run that was asked for by `runNow`. It stands for no occurrence. */
  readonly byHand?: true
  /** What became of them. */
  readonly outcome: "fired" | "coalesced" | "skipped" | "superseded"
  /** Why there is no run. */
  readonly reason?: string
  /** The occurrence that makes up for these. */
  readonly into?: Date
  /** When the run was due. */
  readonly due?: Date
  /** When it was decided. */
  readonly decidedAt: Date
  /** The run that was made. */
  readonly run?: string
  /** Of its run: live, or as history has it while it is kept. */
  readonly state?: string
  /** How many attempts the run has had. */
  readonly attempts?: number
}

type FireRow = typeof listFires extends Statement<infer _, infer R> ? R : never

export function scheduleRecord(row: Omit<StoredSchedule, "left_out">): ScheduleRecord {
  const settings = JSON.parse(row.settings) as StoredSettings
  return {
    id: row.id,
    name: row.name,
    ...(row.tenant !== "" && { tenant: row.tenant }),
    job: row.job,
    spec: JSON.parse(row.spec) as ScheduleSpec,
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
