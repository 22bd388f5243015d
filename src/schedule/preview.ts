/** Previews a schedule: its next and previous occurrences, a description in words, and warnings. */
import { assertOptions, integer, optional, satisfies } from "../options/check.ts"
import { type InstantMs, isDate, parseInstant, toDate } from "../time/instant.ts"
import { readSchedule, type Schedule } from "./schedule.ts"
import type { ScheduleSpec } from "./spec.ts"
import { specCheck } from "./spec-check.ts"
import { type ScheduleWarning, scheduleWarnings } from "./warnings.ts"
import { scheduleWords } from "./words.ts"

/** The options of a preview. */
export interface PreviewOptions {
  /** Next occurrences are after this instant, previous ones before it. @default now */
  readonly from?: Date | string
  /** How many next occurrences to return, and how many previous ones. @default 5 */
  readonly count?: number
}

/** A schedule, explained. */
export interface SchedulePreview {
  /** The next occurrences, soonest first. */
  readonly occurrences: Date[]
  /** The previous occurrences, latest first. */
  readonly previous: Date[]
  /** The schedule in words. */
  readonly words: string
  /** Possible mistakes in the schedule. */
  readonly warnings: ScheduleWarning[]
}

const MOST_OCCURRENCES = 10_000
const DEFAULT_COUNT = 5

const previewCheck = specCheck({
  from: optional(
    satisfies(
      'a Date, or an ISO 8601 text with a zone, as in "2026-03-01T00:00Z"',
      (value) => isDate(value) || (typeof value === "string" && parseInstant(value) !== undefined),
    ),
  ),
  count: optional(integer({ min: 0, max: MOST_OCCURRENCES })),
})

/** Previews a schedule from `options.from`, or from `now`. */
export function previewOf(options: ScheduleSpec & PreviewOptions, now: InstantMs): SchedulePreview {
  assertOptions("previewSchedule", options, previewCheck)
  const { from, count = DEFAULT_COUNT, ...spec } = options
  const schedule = readSchedule(spec as ScheduleSpec)
  const fromMs = typeof from === "string" ? (parseInstant(from) ?? now) : (from?.getTime() ?? now)
  return {
    occurrences: following(schedule, fromMs, count),
    previous: preceding(schedule, fromMs, count),
    words: scheduleWords(schedule),
    warnings: scheduleWarnings(schedule, fromMs),
  }
}

function following(schedule: Schedule, from: InstantMs, count: number): Date[] {
  const { spec } = schedule
  // The next occurrence depends on the end of a run, which is unknown.
  if ("afterCompletion" in spec) return []
  const most = "maxRuns" in spec && spec.maxRuns !== undefined ? Math.min(count, spec.maxRuns) : count
  const found: Date[] = []
  for (let at = schedule.next(from); at !== undefined && found.length < most; at = schedule.next(at)) {
    found.push(toDate(at))
  }
  return found
}

function preceding(schedule: Schedule, from: InstantMs, count: number): Date[] {
  const found: Date[] = []
  for (
    let at = schedule.previous(from);
    at !== undefined && found.length < count;
    at = schedule.previous(at)
  ) {
    found.push(toDate(at))
  }
  return found
}
