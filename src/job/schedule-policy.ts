/** The misfire and overlap policies of a schedule: missed occurrences, and occurrences during an unfinished run. */
import { DEFAULTS } from "../defaults.ts"
import type { Fault } from "../errors.ts"
import {
  type Check,
  duration,
  expected,
  integer,
  isPlainObject,
  object,
  oneOf,
  optional,
} from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { behaviourOf, OVERLAP_NAMES, type OverlapOption, overlapNamed } from "./overlap.ts"

/**
 * What a schedule does with occurrences that came due while no scheduler was running.
 *
 * - `"latest"`: one run, for the newest. Its `ctx.missed` tells about the others.
 * - `"all"`: one run for each, oldest first.
 * - `"skip"`: one run for the newest, if it is at most a minute late.
 *
 * The names that other systems use for these policies work too.
 */
export type MisfireOption = "latest" | "skip" | "all" | MisfireLimits

/** A misfire policy with limits. */
export interface MisfireLimits {
  /** Which missed occurrences get a run: the newest, or all. */
  readonly mode: "latest" | "all"
  /** Skips occurrences that are later than this. @default no limit */
  readonly within?: Duration
  /** With `all`: the most occurrences that get a run, newest first. @default no limit */
  readonly max?: number
}

export interface Misfire {
  readonly mode: "latest" | "all"
  readonly withinMs: number | null
  readonly max: number | null
}

export interface Policy {
  readonly misfire: Misfire
  readonly overlap: OverlapOption
}

/** `skip` means `latest` with this limit. */
const SKIP_WITHIN_MS = 60_000
/** Finding the start walks back from the newest occurrence: 10,000 steps are fast. */
const LARGEST_MAX = 10_000

const MISFIRE_NAMES: Readonly<Record<string, MisfireOption>> = {
  latest: "latest",
  skip: "skip",
  all: "all",
  FIRE_ONCE: "latest",
  FIRE_NOW: "latest",
  FIRE_ONCE_NOW: "latest",
  DO_NOTHING: "skip",
  BACKFILL_ALL: "all",
  IGNORE_MISFIRE: "all",
}

/** Policies of other systems that come close but differ. The message explains the difference. */
const REFUSED_NAMES: Readonly<Record<string, string>> = {
  BufferOne:
    "keeps the oldest waiting occurrence, while `collapse` keeps the newest. Use `collapse` if that is what you want",
  TerminateOther:
    "ends a run without telling it. Use `replace`, with `replaceGrace: 0` if the new run should not wait for it",
}

const ALIASES = {
  /** Kubernetes: seconds. */
  startingDeadlineSeconds: (value: unknown) => ({ mode: "latest", within: Number(value) * 1_000 }) as const,
  /** Temporal. */
  catchup_window: (value: unknown) => ({ mode: "all", within: value as Duration }) as const,
  /** graphile-worker. */
  fill: (value: unknown) => ({ mode: "all", within: value as Duration }) as const,
  /** systemd. */
  Persistent: (value: unknown) => (value === false ? ("skip" as const) : ("latest" as const)),
} satisfies Readonly<Record<string, (value: unknown) => MisfireOption>>

export const misfireCheck: Check = (value, path) => {
  const option = misfireNamed(value)
  if (typeof option === "string") return []
  if (!isPlainObject(option))
    return [expected('"latest", "skip", "all" or { mode, within, max }', value, path)]
  const hasVainMax = option["mode"] === "latest" && option["max"] !== undefined
  const vain = {
    path: path === "" ? "max" : `${path}.max`,
    message: 'applies to mode "all" only: "latest" makes one run; remove `max`',
  }
  return [...limitsCheck(option, path), ...(hasVainMax ? [vain] : [])]
}

const limitsCheck = object({
  mode: oneOf("latest", "all"),
  within: optional(duration({ min: 1 })),
  max: optional(integer({ min: 1, max: LARGEST_MAX })),
})

export const overlapCheck: Check = (value, path) => {
  if (overlapNamed(value)) return []
  const refusal = typeof value === "string" && Object.hasOwn(REFUSED_NAMES, value) && REFUSED_NAMES[value]
  if (refusal) return [{ path, message: `${value} ${refusal}.` }]
  return [expected(`one of "${OVERLAP_NAMES.join('", "')}"`, value, path)]
}

/** Faults of combinations: policies that are valid alone and conflict together. */
export function policyFaults(misfire: MisfireOption, overlap: OverlapOption | undefined): Fault[] {
  const reason = reasonAgainstAll(nameOfOverlap(overlap))
  if (readMisfire(misfire).mode !== "all" || reason === null) return []
  const message =
    `with misfire "all", ${reason}. Use "queue" (one after the other), "allow" (all at once), ` +
    'or misfire "latest".'
  return [{ path: "overlap", message }]
}

function reasonAgainstAll(overlap: OverlapOption | undefined): string | null {
  return overlap === undefined ? null : behaviourOf(overlap).againstAll
}

/** Policies as a schedule or its job declares them. */
export interface PolicyOptions {
  readonly misfire?: MisfireOption
  readonly overlap?: OverlapOption
}

/** The source of a policy. */
export type PolicySource = "schedule" | "job" | "default"

export interface SourcedPolicy extends Policy {
  readonly from: { readonly misfire: PolicySource; readonly overlap: PolicySource }
}

/**
 * Resolves the policies: the schedule's own, else its job's, else the default. All options have been checked.
 *
 * Misfire `all` conflicts with some overlaps. Then the default overlap for `all` replaces the job's overlap.
 */
export function readPolicy(schedule: PolicyOptions, job: PolicyOptions = {}): SourcedPolicy {
  const misfire = readMisfire(schedule.misfire ?? job.misfire ?? DEFAULTS.misfire)
  const preferred = nameOfOverlap(job.overlap)
  const ofJob = misfire.mode === "all" && reasonAgainstAll(preferred) !== null ? undefined : preferred
  const usual = misfire.mode === "all" ? DEFAULTS.overlapWithMisfireAll : DEFAULTS.overlap
  return {
    misfire,
    overlap: nameOfOverlap(schedule.overlap) ?? ofJob ?? usual,
    from: {
      misfire: sourceOf(schedule.misfire, job.misfire),
      overlap: sourceOf(schedule.overlap, ofJob),
    },
  }
}

function sourceOf(schedule: unknown, job: unknown): PolicySource {
  if (schedule !== undefined) return "schedule"
  return job === undefined ? "default" : "job"
}

function nameOfOverlap(option: OverlapOption | undefined): OverlapOption | undefined {
  return option === undefined ? undefined : (overlapNamed(option) ?? option)
}

function readMisfire(option: MisfireOption): Misfire {
  const named = misfireNamed(option) as MisfireOption
  if (named === "skip") return { mode: "latest", withinMs: SKIP_WITHIN_MS, max: null }
  if (named === "latest" || named === "all") return { mode: named, withinMs: null, max: null }
  return { mode: named.mode, withinMs: parseDuration(named.within) ?? null, max: named.max ?? null }
}

/** Translates the names of other systems to Carillon's. Returns unknown values unchanged. */
function misfireNamed(value: unknown): unknown {
  if (typeof value === "string") return MISFIRE_NAMES[value]
  if (!isPlainObject(value)) return value
  const [[key, given] = ["", undefined], ...others] = Object.entries(value)
  const alias =
    others.length === 0 && Object.hasOwn(ALIASES, key) ? ALIASES[key as keyof typeof ALIASES] : undefined
  return alias ? alias(given) : value
}
