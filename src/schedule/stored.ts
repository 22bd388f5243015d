/** A schedule as it is stored: what its user said, as JSON can hold it, and how that is read again. */
import { DEFAULTS } from "../defaults.ts"
import {
  type MisfireOption,
  misfireCheck,
  type OverlapOption,
  overlapCheck,
  type PolicyOptions,
  readPolicy,
} from "../job/schedule-policy.ts"
import { parseDuration } from "../time/duration.ts"
import { formatCivil } from "./civil-text.ts"
import type { Scheduled } from "./decide.ts"
import { goesByZone, type Schedule } from "./schedule.ts"

/** How a schedule makes its runs. What is missing is as the job says, or as the defaults do. */
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
  /** What its job said when the schedule was written: counts while no process has declared the job. */
  readonly job?: JobFacts
}

/** What of a job counts for its schedules. */
export interface JobFacts extends PolicyOptions {
  readonly pool: string
  readonly priority: number
  readonly history: string
  readonly onLost: string
  readonly concurrency: number | null
}

/** A stored schedule, ready for deciding. */
export function readStored(
  id: string,
  recurrence: Schedule,
  settings: ScheduleSettings,
  job: PolicyOptions = settings.job ?? {},
): Scheduled {
  const { spec, zone, wall } = recurrence
  const isZoned = goesByZone(recurrence)
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

/** What is declared of the job now, or of a job that nobody declares, what is usual. */
export function jobFactsOf(declared: Readonly<Record<string, unknown>> | JobFacts | undefined): JobFacts {
  const known = (declared ?? {}) as Readonly<Record<string, unknown>>
  const said = <T>(key: string, kind: string, otherwise: T): T =>
    typeof known[key] === kind ? (known[key] as T) : otherwise
  return {
    pool: said("pool", "string", DEFAULTS.pool),
    priority: said("priority", "number", DEFAULTS.priority),
    history: said("history", "string", DEFAULTS.history),
    onLost: said("onLost", "string", DEFAULTS.onLost),
    concurrency: said<number | null>("concurrency", "number", null),
    ...policiesOf(known),
  }
}

/** The policies that a job prefers. What a later version says and this one does not understand says nothing. */
function policiesOf(known: Readonly<Record<string, unknown>>): PolicyOptions {
  const { misfire, overlap } = known
  return {
    ...(misfire != null && misfireCheck(misfire, "").length === 0 && { misfire: misfire as MisfireOption }),
    ...(overlap != null && overlapCheck(overlap, "").length === 0 && { overlap: overlap as OverlapOption }),
  }
}
