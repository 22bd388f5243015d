/** The options of a schedule: what users write, the checks, and the stored definition. */
import { DEFAULTS } from "../../defaults.ts"
import { OptionsError } from "../../errors.ts"
import type { AnyJob, Job } from "../../job/define.ts"
import {
  poolNameCheck,
  priorityCheck,
  type RunRetryOptions,
  runRetryCheck,
  timeoutCheck,
} from "../../job/options.ts"
import { behaviourOf, type OverlapOption, overlapNamed } from "../../job/overlap.ts"
import { encodePayload } from "../../job/payload.ts"
import { type MisfireOption, misfireCheck, overlapCheck, policyFaults } from "../../job/schedule-policy.ts"
import {
  type Check,
  duration,
  integer,
  isPlainObject,
  oneOf,
  optional,
  satisfies,
} from "../../options/check.ts"
import type { MisnamedOfSchedule } from "../../options/mistake.ts"
import type { ScheduleDefinition } from "../../schedule/reconcile.ts"
import { readSchedule, timeFaults } from "../../schedule/schedule.ts"
import type { ScheduleSpec } from "../../schedule/spec.ts"
import { specCheck } from "../../schedule/spec-check.ts"
import type { JobFacts, ScheduleSettings } from "../../schedule/stored.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { assertJob } from "../assert-job.ts"
import { shortText, tagsCheck } from "../runs/enqueue-options.ts"

/** The options of a schedule besides its times, its job and its input. */
export interface ScheduleSettingsOptions {
  /** The name of the schedule, unique within its tenant. */
  readonly name: string
  /**
   * The tenant of the schedule and of its runs.
   *
   * @default no tenant
   */
  readonly tenant?: string
  /**
   * What the schedule does with occurrences that came due while no scheduler was running.
   *
   * - `"latest"`: one run, for the newest.
   * - `"all"`: one run for each, oldest first.
   * - `"skip"`: one run for the newest, if it is at most a minute late.
   * - `{ mode, within, max }`: `"latest"` or `"all"` with limits.
   *
   * @default the policy of the job, else "latest"
   */
  readonly misfire?: MisfireOption
  /**
   * What the schedule does with an occurrence that comes due while an earlier run is unfinished. The choices are those
   * of [`OverlapOption`](api.md#overlapoption).
   *
   * @default the policy of the job, else "skip"; "queue" with misfire "all"
   */
  readonly overlap?: OverlapOption
  /**
   * How many unfinished runs a schedule with overlap `"queue"` may have. Further occurrences wait until there is room.
   *
   * @default 1000
   */
  readonly maxQueued?: number
  /**
   * Runs of schedules with the same tenant and `overlapKey` never execute at the same time.
   *
   * @default the schedule shares with no other
   */
  readonly overlapKey?: string
  /**
   * With overlap `"replace"`: how long a replaced run has to end. After that, Carillon takes it from its worker.
   *
   * @default "30s"
   */
  readonly replaceGrace?: Duration
  /**
   * What a new occurrence does to a run that waits for a retry. `"replace-retry"` replaces that run.
   *
   * @default the waiting run counts as unfinished
   */
  readonly onNewOccurrence?: "replace-retry"
  /**
   * Pauses the schedule when so many of its runs have died in a row.
   *
   * @default never
   */
  readonly pauseAfterFailures?: number
  /**
   * On creation: whether an occurrence in the current minute counts, although the minute has begun.
   *
   * @default false
   */
  readonly includeCurrentMinute?: boolean
  /**
   * On creation: whether to make a run at once, in addition to the occurrences.
   *
   * @default false
   */
  readonly runOnCreate?: boolean
  /**
   * Overrides the priority of the job.
   *
   * @default the priority of the job
   */
  readonly priority?: number
  /**
   * Overrides the pool of the job.
   *
   * @default the pool of the job
   */
  readonly pool?: string
  /**
   * Up to 20 words for finding its runs.
   *
   * @default none
   */
  readonly tags?: readonly string[]
  /**
   * Overrides the timeout of the job.
   *
   * @default the timeout of the job
   */
  readonly timeout?: Duration
  /**
   * How many attempts its runs have. The same as `retry.attempts`.
   *
   * @default the attempts of the job
   */
  readonly maxAttempts?: number
  /**
   * Replaces the whole retry policy of the job.
   *
   * @default the retry policy of the job
   */
  readonly retry?: RunRetryOptions
  /**
   * The longest time between due and start of a run. A run that has not started by then expires.
   *
   * @default no limit
   */
  readonly startWithin?: Duration
  /**
   * A note for people: what the schedule is for, and whom to ask about it.
   *
   * @default none
   */
  readonly notes?: string
}

/** A schedule as users write it: its times, its job, the input and the settings. */
export type ScheduleOptions<Input> = ScheduleSpec &
  ScheduleSettingsOptions &
  MisnamedOfSchedule & {
    /** The job of its runs. */
    readonly job: Job<Input, unknown>
  } & (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

/** The stored definition, with the spec that the check has read. */
export type Definition = Required<ScheduleDefinition>

const NAME_LENGTH = 200
const NOTES_LENGTH = 2_000
const KEY_LENGTH = 200
const MOST_QUEUED = 100_000

export const scheduleNameCheck = shortText(NAME_LENGTH)
export const scheduleTenantCheck = shortText(NAME_LENGTH)

export const yesOrNo = satisfies("true or false", (value) => typeof value === "boolean")

const settingsShape = {
  name: scheduleNameCheck,
  tenant: optional(scheduleTenantCheck),
  misfire: optional(misfireCheck),
  overlap: optional(overlapCheck),
  maxQueued: optional(integer({ min: 1, max: MOST_QUEUED })),
  overlapKey: optional(shortText(KEY_LENGTH)),
  includeCurrentMinute: optional(yesOrNo),
  runOnCreate: optional(yesOrNo),
  pauseAfterFailures: optional(integer({ min: 1, max: 1_000_000 })),
  replaceGrace: optional(duration()),
  onNewOccurrence: optional(oneOf("replace-retry")),
  priority: optional(priorityCheck),
  pool: optional(poolNameCheck),
  tags: optional(tagsCheck),
  timeout: optional(timeoutCheck),
  retry: optional(runRetryCheck),
  maxAttempts: optional(integer({ min: 1, max: 1_000 })),
  startWithin: optional(duration()),
  notes: optional(shortText(NOTES_LENGTH)),
  job: satisfies("a job, made by `defineJob`", (value) => typeof value === "object" && value !== null),
  input: () => [],
} satisfies Readonly<Record<string, Check>>

/** The options that name the kind of a schedule. */
const KINDS: readonly string[] = ["cron", "every", "at", "afterCompletion"]

/** The options about times. */
const WHEN: readonly string[] = [
  "cron",
  "every",
  "at",
  "afterCompletion",
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

/**
 * Throws all faults of the options at once, then the faults of the input, then that the schedule has no occurrences.
 */
export async function resolveSchedule<Input>(options: ScheduleOptions<Input>): Promise<Definition> {
  const definition = readDefinition(options)
  const { job }: { job: AnyJob } = options
  if (job.hasSchema) await job.parse(definition.input)
  return definition
}

/** Checks everything but the input, whose check by the schema of the job is asynchronous. */
export function readDefinition(options: ScheduleSettingsOptions & { readonly job: AnyJob }): Definition {
  assertSchedule(options)
  const { job } = options
  assertJob(job)
  const input = encodePayload((options as { input?: unknown }).input, "input", DEFAULTS.inputBytes)
  return definitionOf(options, { job: job.name, facts: factsOf(job), input })
}

/**
 * Applies the changes to a stored schedule. A new input needs the `job` for its check, so a process that does not have
 * the job cannot change the input.
 */
export async function patchedSchedule(
  row: StoredDefinition,
  changes: object,
  job: AnyJob | undefined,
): Promise<Definition> {
  const settings = JSON.parse(row.settings) as StoredSettings
  const fixed = FIXED.filter((key) => key in changes)
  if (fixed.length > 0) {
    const message = "cannot be changed: make another schedule"
    throw new OptionsError(
      "schedules.patch",
      fixed.map((path) => ({ path, message })),
    )
  }
  const options = patchedOptions(row, settings, changes)
  assertSchedule({ ...options, job: job ?? {} })
  const { input: newInput } = changes as { input?: unknown }
  const input = "input" in changes ? encodePayload(newInput, "input", DEFAULTS.inputBytes) : row.input
  if (input !== row.input && job === undefined) {
    const message = `the input of a schedule of job "${row.job}" is checked by a process that knows the job`
    throw new OptionsError("schedules.patch", [{ path: "input", message }])
  }
  if (job?.hasSchema) await job.parse(input)
  return definitionOf(options, { job: row.job, facts: job ? factsOf(job) : settings.job, input })
}

/** The options that no change may touch. */
const FIXED: readonly string[] = ["name", "tenant", "job"]

type StoredDefinition = Omit<ScheduleDefinition, "schedule">
type GivenOptions = ScheduleSpec & ScheduleSettingsOptions

/** Writes the stored schedule as options and applies the changes. A change of its kind drops the old kind. */
function patchedOptions(row: StoredDefinition, settings: StoredSettings, changes: object): GivenOptions {
  const { timeoutMs, startWithinMs, replaceGraceMs, job: _, retry: storedRetry, ...sameNames } = settings
  const { attempts, ...waits } = (storedRetry ?? {}) as RunRetryOptions
  const spec = JSON.parse(row.spec) as Readonly<Record<string, unknown>>
  const isNewKind = KINDS.some((kind) => kind in changes && !(kind in spec))
  const before: Readonly<Record<string, unknown>> = {
    name: row.name,
    ...(row.tenant !== "" && { tenant: row.tenant }),
    ...(isNewKind ? Object.fromEntries(Object.entries(spec).filter(([key]) => !KINDS.includes(key))) : spec),
    ...sameNames,
    // Written as `retry` and `maxAttempts`, so that each can be changed alone.
    ...(Object.keys(waits).length > 0 && { retry: waits }),
    ...(!("retry" in changes) && { maxAttempts: attempts }),
    timeout: timeoutMs,
    startWithin: startWithinMs,
    replaceGrace: replaceGraceMs,
  }
  const changed = Object.entries(changes).filter(([key, value]) => key !== "input" && value !== undefined)
  const merged = Object.entries({ ...before, ...Object.fromEntries(changed) }).filter(
    ([, value]) => value != null,
  )
  return Object.fromEntries(merged) as unknown as GivenOptions
}

function mayOverlap(given: unknown): boolean {
  const named = overlapNamed(given)
  return named !== undefined && !behaviourOf(named).isAlone
}

function assertSchedule(options: object): void {
  const faults = optionsCheck(options, "")
  const given = (isPlainObject(options) ? options : {}) as Partial<ScheduleSettingsOptions>
  if (faults.length === 0) {
    const ofJob = (options as { job: { misfire?: MisfireOption | null } }).job.misfire
    faults.push(...policyFaults(given.misfire ?? ofJob ?? DEFAULTS.misfire, given.overlap))
  }
  if (given.overlapKey !== undefined && mayOverlap(given.overlap)) {
    faults.push({ path: "overlapKey", message: `has no effect with overlap "${given.overlap}"` })
  }
  if (given.maxAttempts !== undefined && given.retry?.attempts !== undefined) {
    faults.push({ path: "maxAttempts", message: "is the same as `retry.attempts`: give one of them" })
  }
  if (faults.length > 0) {
    const known = new Set(faults.map(({ path }) => path))
    faults.push(...timeFaults(given).filter(({ path }) => !known.has(path)))
    throw new OptionsError("schedule", faults)
  }
}

function definitionOf(
  options: ScheduleSettingsOptions,
  { job, facts, input }: { job: string; facts: JobFacts | undefined; input: string },
): Definition {
  const spec = specOf(options)
  const schedule = readSchedule(spec)
  const { tenant = "", name } = options
  const settings = JSON.stringify(settingsOf(options, facts))
  return { tenant, name, job, spec: JSON.stringify(spec), input, settings, schedule }
}

/** The settings of the job that are stored with the schedule, in case no process declares the job. */
function factsOf(job: AnyJob): JobFacts {
  const { pool, priority, history, onLost, concurrency, misfire, overlap } = job
  return {
    pool,
    priority,
    history,
    onLost,
    concurrency,
    ...(misfire !== null && { misfire }),
    ...(overlap !== null && { overlap }),
  }
}

function specOf(options: object): ScheduleSpec {
  const given = options as Readonly<Record<string, unknown>>
  // Always in this order, so that equal specs are equal texts.
  const when = WHEN.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]))
  return Object.fromEntries(when) as unknown as ScheduleSpec
}

/** The settings of a schedule as they are stored. */
export interface StoredSettings extends ScheduleSettings {
  /** A note for people. */
  readonly notes?: string
}

/** Always in this order, so that equal settings are equal texts. */
function settingsOf(options: ScheduleSettingsOptions, facts: JobFacts | undefined): StoredSettings {
  const { misfire, overlap, maxQueued, overlapKey, onNewOccurrence, pool, priority, tags, retry, notes } =
    options
  const [timeoutMs, startWithinMs] = [parseDuration(options.timeout), parseDuration(options.startWithin)]
  const { pauseAfterFailures, maxAttempts } = options
  const replaceGraceMs = parseDuration(options.replaceGrace)
  return {
    ...(misfire !== undefined && { misfire }),
    ...(overlap !== undefined && { overlap }),
    ...(maxQueued !== undefined && { maxQueued }),
    ...(overlapKey !== undefined && { overlapKey }),
    ...(replaceGraceMs !== undefined && { replaceGraceMs }),
    ...(onNewOccurrence !== undefined && { onNewOccurrence }),
    ...(pauseAfterFailures !== undefined && { pauseAfterFailures }),
    ...(options.includeCurrentMinute && { includeCurrentMinute: true }),
    ...(options.runOnCreate && { runOnCreate: true }),
    ...(pool !== undefined && { pool }),
    ...(priority !== undefined && { priority }),
    ...(tags !== undefined && { tags }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...((retry ?? maxAttempts) !== undefined && {
      retry: { ...retry, ...(maxAttempts !== undefined && { attempts: maxAttempts }) },
    }),
    ...(startWithinMs !== undefined && { startWithinMs }),
    ...(notes !== undefined && { notes }),
    ...(facts !== undefined && { job: facts }),
  }
}
