/** The options of a schedule: what users write, how it is checked, and what of it is stored. */

import { DEFAULTS } from "../defaults.ts"
import { OptionsError } from "../errors.ts"
import type { AnyJob, Job } from "../job/define.ts"
import {
  poolNameCheck,
  priorityCheck,
  type RunRetryOptions,
  runRetryCheck,
  timeoutCheck,
} from "../job/options.ts"
import { encodePayload } from "../job/payload.ts"
import { type Check, duration, integer, isPlainObject, optional, satisfies } from "../options/check.ts"
import {
  type MisfireOption,
  misfireCheck,
  type OverlapOption,
  overlapCheck,
  policyFaults,
} from "../schedule/policy.ts"
import { readSchedule } from "../schedule/schedule.ts"
import type { ScheduleSpec } from "../schedule/spec.ts"
import { specCheck } from "../schedule/spec-check.ts"
import type { ScheduleSettings } from "../schedule/stored.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { assertJob } from "./assert-job.ts"
import { shortText, tagsCheck } from "./enqueue-options.ts"

/** What a schedule says beside when it happens and what it makes runs of. */
export interface ScheduleSettingsOptions {
  /** Its name, the only one of its tenant. */
  readonly name: string
  /** On whose behalf its runs are. */
  readonly tenant?: string
  /**
   * What it does about occurrences that came due while no scheduler was running.
   *
   * @default "latest"
   */
  readonly misfire?: MisfireOption
  /**
   * What it does about an occurrence that comes due while an earlier run is not finished.
   *
   * @default "skip"; "queue" with misfire "all"
   */
  readonly overlap?: OverlapOption
  /**
   * With so many unfinished runs, the next occurrences of a schedule that drops none of them wait.
   *
   * @default 1000
   */
  readonly maxQueued?: number
  /** Overrides the priority of the job. */
  readonly priority?: number
  /** Overrides the pool of the job. */
  readonly pool?: string
  /** Up to 20 words to find its runs by. */
  readonly tags?: readonly string[]
  /** Overrides the timeout of the job. */
  readonly timeout?: Duration
  /** Overrides the retry policy of the job, as a whole. */
  readonly retry?: RunRetryOptions
  /** A run that is not started within this time after it is due expires instead of being started late. */
  readonly startWithin?: Duration
  /** For people: why it is there, whom to ask. */
  readonly notes?: string
}

export type ScheduleOptions<Input> = Exclude<ScheduleSpec, { afterCompletion: unknown }> &
  ScheduleSettingsOptions & { readonly job: Job<Input, unknown> } & (undefined extends Input
    ? { readonly input?: Input }
    : { readonly input: Input })

/** A schedule as it is written, all of it JSON. */
export interface Definition {
  readonly tenant: string
  readonly name: string
  readonly job: string
  readonly spec: string
  readonly input: string
  readonly settings: string
}

const NAME_LENGTH = 200
const NOTES_LENGTH = 2_000
const MOST_QUEUED = 100_000

export const scheduleNameCheck = shortText(NAME_LENGTH)
export const scheduleTenantCheck = shortText(NAME_LENGTH)

const settingsShape = {
  name: scheduleNameCheck,
  tenant: optional(scheduleTenantCheck),
  misfire: optional(misfireCheck),
  overlap: optional(overlapCheck),
  maxQueued: optional(integer({ min: 1, max: MOST_QUEUED })),
  priority: optional(priorityCheck),
  pool: optional(poolNameCheck),
  tags: optional(tagsCheck),
  timeout: optional(timeoutCheck),
  retry: optional(runRetryCheck),
  startWithin: optional(duration()),
  notes: optional(shortText(NOTES_LENGTH)),
  job: satisfies("a job, made by `defineJob`", (value) => typeof value === "object" && value !== null),
  input: () => [],
} satisfies Readonly<Record<string, Check>>

/** Which of the options say when. */
const WHEN: readonly string[] = [
  "cron",
  "every",
  "at",
  "dialect",
  "offset",
  "anchor",
  "timeZone",
  "dst",
  "startAt",
  "endAt",
  "maxRuns",
  "exclude",
  "calendars",
  "onExcluded",
  "jitter",
  "spread",
]

const optionsCheck = specCheck(settingsShape)

/** Overlaps that are decided, but not yet carried out. */
const NOT_YET: readonly string[] = ["collapse", "replace"]

/** Throws every fault at once, or what is wrong with the input, or that it can never happen. */
export async function resolveSchedule<Input>(options: ScheduleOptions<Input>): Promise<Definition> {
  const definition = readDefinition(options)
  const { job }: { job: AnyJob } = options
  if (job.hasSchema) await job.parse(definition.input)
  return definition
}

/** The same, without asking the schema of the job about the input, which takes its time. */
export function readDefinition(options: ScheduleSettingsOptions & { readonly job: AnyJob }): Definition {
  const faults = optionsCheck(options, "")
  const given = (isPlainObject(options) ? options : {}) as Partial<ScheduleSettingsOptions>
  if (faults.length === 0) faults.push(...policyFaults(given.misfire ?? DEFAULTS.misfire, given.overlap))
  if (isPlainObject(options) && "afterCompletion" in options) {
    faults.push({
      path: "afterCompletion",
      message: "is understood by `previewSchedule`, but cannot be stored yet",
    })
  }
  if (NOT_YET.includes(given.overlap ?? "")) {
    faults.push({
      path: "overlap",
      message: `"${given.overlap}" cannot be stored yet; use "skip", "queue" or "allow"`,
    })
  }
  if (faults.length > 0) throw new OptionsError("schedule", faults)
  const { job } = options
  assertJob(job)
  const spec = specOf(options)
  readSchedule(spec)
  const input = encodePayload((options as { input?: unknown }).input, "input", DEFAULTS.inputBytes)
  return {
    tenant: options.tenant ?? "",
    name: options.name,
    job: job.name,
    spec: JSON.stringify(spec),
    input,
    settings: JSON.stringify(settingsOf(options, job)),
  }
}

function specOf(options: object): ScheduleSpec {
  const given = options as Readonly<Record<string, unknown>>
  // In this order, always: two that say the same are the same text.
  const when = WHEN.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]))
  return Object.fromEntries(when) as unknown as ScheduleSpec
}

export interface StoredSettings extends ScheduleSettings {
  readonly notes?: string
}

/** In this order, always: two that say the same are the same text. */
function settingsOf(options: ScheduleSettingsOptions, job: AnyJob): StoredSettings {
  const { misfire, overlap, maxQueued, pool, priority, tags, retry, notes } = options
  const [timeoutMs, startWithinMs] = [parseDuration(options.timeout), parseDuration(options.startWithin)]
  return {
    ...(misfire !== undefined && { misfire }),
    ...(overlap !== undefined && { overlap }),
    ...(maxQueued !== undefined && { maxQueued }),
    ...(pool !== undefined && { pool }),
    ...(priority !== undefined && { priority }),
    ...(tags !== undefined && { tags }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retry !== undefined && { retry }),
    ...(startWithinMs !== undefined && { startWithinMs }),
    ...(notes !== undefined && { notes }),
    job: {
      pool: job.pool,
      priority: job.priority,
      history: job.history,
      onLost: job.onLost,
      concurrency: job.concurrency,
    },
  }
}
