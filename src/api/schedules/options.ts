/** The options of a schedule: what users write, how it is checked, and what of it is stored. */

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
  /**
   * Schedules of a tenant with the same `overlapKey` never run at the same time.
   *
   * @default each is apart
   */
  readonly overlapKey?: string
  /**
   * With overlap `replace`: how long a running run has to end after it was told to. Then it is taken from its worker.
   *
   * @default "30s"
   */
  readonly replaceGrace?: Duration
  /** `replace-retry`: an occurrence takes the place of a run that only waits for its next attempt. */
  readonly onNewOccurrence?: "replace-retry"
  /** Pauses it when so many of its runs have died in a row. */
  readonly pauseAfterFailures?: number
  /** When it is made: an occurrence in the minute that has begun already counts. */
  readonly includeCurrentMinute?: boolean
  /** When it is made: makes a run at once, beside its occurrences. */
  readonly runOnCreate?: boolean
  /** Overrides the priority of the job. */
  readonly priority?: number
  /** Overrides the pool of the job. */
  readonly pool?: string
  /** Up to 20 words to find its runs by. */
  readonly tags?: readonly string[]
  /** Overrides the timeout of the job. */
  readonly timeout?: Duration
  /** How many attempts its runs have; the same as `retry.attempts`. */
  readonly maxAttempts?: number
  /** Overrides the retry policy of the job, as a whole. */
  readonly retry?: RunRetryOptions
  /** A run that is not started within this time after it is due expires instead of being started late. */
  readonly startWithin?: Duration
  /** For people: why it is there, whom to ask. */
  readonly notes?: string
}

/** What a schedule says: when it happens, what it makes runs of, and with which input. */
export type ScheduleOptions<Input> = ScheduleSpec &
  ScheduleSettingsOptions &
  MisnamedOfSchedule & {
    /** The job that it makes runs of. */
    readonly job: Job<Input, unknown>
  } & (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

/** A schedule as it is stored, with its spec as it was read for the check. */
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

/** The ways to say when. */
const KINDS: readonly string[] = ["cron", "every", "at", "afterCompletion"]

/** Which of the options say when. */
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

/** Throws every fault at once, or what is wrong with the input, or that it can never happen. */
export async function resolveSchedule<Input>(options: ScheduleOptions<Input>): Promise<Definition> {
  const definition = readDefinition(options)
  const { job }: { job: AnyJob } = options
  if (job.hasSchema) await job.parse(definition.input)
  return definition
}

/** The same, without asking the schema of the job about the input, which takes its time. */
export function readDefinition(options: ScheduleSettingsOptions & { readonly job: AnyJob }): Definition {
  assertSchedule(options)
  const { job } = options
  assertJob(job)
  const input = encodePayload((options as { input?: unknown }).input, "input", DEFAULTS.inputBytes)
  return definitionOf(options, { job: job.name, facts: factsOf(job), input })
}

/**
 * A stored schedule with some of it changed. `job` is needed to check another input; a process that does not know the
 * job cannot give its schedules another one.
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
  const given = changes as { input?: unknown }
  const input = "input" in given ? encodePayload(given.input, "input", DEFAULTS.inputBytes) : row.input
  if (input !== row.input && job === undefined) {
    const message = `the input of a schedule of job "${row.job}" is checked by a process that knows the job`
    throw new OptionsError("schedules.patch", [{ path: "input", message }])
  }
  if (job?.hasSchema) await job.parse(input)
  return definitionOf(options, { job: row.job, facts: job ? factsOf(job) : settings.job, input })
}

/** What a schedule is known by, and what it makes runs of. */
const FIXED: readonly string[] = ["name", "tenant", "job"]

type StoredDefinition = Omit<ScheduleDefinition, "schedule">
type GivenOptions = ScheduleSpec & ScheduleSettingsOptions

/** What it says, as it would be written today, with the changes. Of the ways to say when, the one that is new counts. */
function patchedOptions(row: StoredDefinition, settings: StoredSettings, changes: object): GivenOptions {
  const { timeoutMs, startWithinMs, replaceGraceMs, job: _, retry: kept, ...same } = settings
  const { attempts, ...waits } = (kept ?? {}) as RunRetryOptions
  const spec = JSON.parse(row.spec) as Readonly<Record<string, unknown>>
  const isNewKind = KINDS.some((kind) => kind in changes && !(kind in spec))
  const before: Readonly<Record<string, unknown>> = {
    name: row.name,
    ...(row.tenant !== "" && { tenant: row.tenant }),
    ...(isNewKind ? Object.fromEntries(Object.entries(spec).filter(([key]) => !KINDS.includes(key))) : spec),
    ...same,
    // Said as both ways say it, so that either can be changed alone.
    ...(Object.keys(waits).length > 0 && { retry: waits }),
    ...(!("retry" in changes) && { maxAttempts: attempts }),
    timeout: timeoutMs,
    startWithin: startWithinMs,
    replaceGrace: replaceGraceMs,
  }
  const said = Object.entries(changes).filter(([key, value]) => key !== "input" && value !== undefined)
  const merged = Object.entries({ ...before, ...Object.fromEntries(said) }).filter(
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

/** What counts of the job while no process declares it. */
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
  // In this order, always: two that say the same are the same text.
  const when = WHEN.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]))
  return Object.fromEntries(when) as unknown as ScheduleSpec
}

/** The settings of a schedule as they are stored. */
export interface StoredSettings extends ScheduleSettings {
  /** For people. */
  readonly notes?: string
}

/** In this order, always: two that say the same are the same text. */
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
