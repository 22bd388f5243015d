/** Stored schedules: their settings as JSON, and how to read them back. */
import { DEFAULTS } from "../defaults.ts"
import type { OverlapOption } from "../job/overlap.ts"
import {
  type MisfireOption,
  misfireCheck,
  overlapCheck,
  type PolicyOptions,
  readPolicy,
} from "../job/schedule-policy.ts"
import { parseDuration } from "../time/duration.ts"
import { formatCivil } from "./civil-text.ts"
import type { Scheduled } from "./decide.ts"
import { dependsOnZoneData, type Schedule } from "./schedule.ts"

/** How a schedule makes its runs. The job and then the defaults fill in missing settings. */
export interface ScheduleSettings extends PolicyOptions {
  readonly maxQueued?: number
  readonly overlapKey?: string
  readonly pauseAfterFailures?: number
  readonly replaceGraceMs?: number
  readonly onNewOccurrence?: "replace-retry"
  readonly pool?: string
  readonly priority?: number
  readonly tags?: readonly string[]
  readonly timeoutMs?: number
  readonly retry?: object
  readonly startWithinMs?: number
  readonly includeCurrentMinute?: true
  readonly runOnCreate?: true
  /** The job's settings when the schedule was written. They apply while no process declares the job. */
  readonly job?: JobFacts
}

/** The settings of a job that affect its schedules. */
export interface JobFacts extends PolicyOptions {
  readonly pool: string
  readonly priority: number
  readonly history: string
  readonly onLost: string
  readonly concurrency: number | null
}

/** A stored schedule in the form that `decide` takes. */
export function readStored(
  id: string,
  recurrence: Schedule,
  settings: ScheduleSettings,
  job: PolicyOptions = settings.job ?? {},
): Scheduled {
  const { spec, zone, wall } = recurrence
  const isZoned = dependsOnZoneData(recurrence)
  const { jitter, spread, maxRuns } = spec as { jitter?: string; spread?: string; maxRuns?: number }
  return {
    id,
    recurrence,
    delays: { jitterMs: parseDuration(jitter) ?? 0, spreadMs: parseDuration(spread) ?? 0 },
    policy: readPolicy(settings, job),
    maxRuns: maxRuns ?? null,
    maxQueued: settings.maxQueued ?? DEFAULTS.maxQueued,
    isOnce: "at" in spec,
    replacesRetry: settings.onNewOccurrence === "replace-retry",
    replaceGraceMs: settings.replaceGraceMs ?? DEFAULTS.replaceGraceMs,
    overlapKey: settings.overlapKey ?? null,
    afterMs: "afterCompletion" in spec ? (parseDuration(spec.afterCompletion) ?? 0) : null,
    pauseAfterFailures: settings.pauseAfterFailures ?? null,
    isZoned,
    civilOf: (at) => (isZoned && wall !== undefined ? formatCivil(at + zone.offsetAt(at)) : null),
  }
}

/** The declared settings of a job, with defaults for a job that no process declares. */
export function jobFactsOf(declared: Readonly<Record<string, unknown>> | JobFacts | undefined): JobFacts {
  const known = (declared ?? {}) as Readonly<Record<string, unknown>>
  const setting = <T>(key: string, type: string, fallback: T): T =>
    typeof known[key] === type ? (known[key] as T) : fallback
  return {
    pool: setting("pool", "string", DEFAULTS.pool),
    priority: setting("priority", "number", DEFAULTS.priority),
    history: setting("history", "string", DEFAULTS.history),
    onLost: setting("onLost", "string", DEFAULTS.onLost),
    concurrency: setting<number | null>("concurrency", "number", null),
    ...policiesOf(known),
  }
}

/** The policies of a job. Ignores values that this version does not know: a later version may have written them. */
function policiesOf(known: Readonly<Record<string, unknown>>): PolicyOptions {
  const { misfire, overlap } = known
  return {
    ...(misfire != null && misfireCheck(misfire, "").length === 0 && { misfire: misfire as MisfireOption }),
    ...(overlap != null && overlapCheck(overlap, "").length === 0 && { overlap: overlap as OverlapOption }),
  }
}
