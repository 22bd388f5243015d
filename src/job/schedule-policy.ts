/** What a schedule does about occurrences that were missed, and about those that come while a run is not finished. */
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

/**
 * How many of the occurrences that came due while no scheduler was running are made up for, and how late.
 *
 * `latest`: one run, for the newest of them, which is told of the others. `all`: one run for each, the oldest first.
 * `skip`: the newest, if it is no more than a minute late. The names that other systems have for these are understood.
 */
export type MisfireOption = "latest" | "skip" | "all" | MisfireLimits

/** A misfire policy with bounds. */
export interface MisfireLimits {
  /** Which of the missed occurrences are made up for: the newest, or each. */
  readonly mode: "latest" | "all"
  /** Later than this they are not made up for. @default without limit */
  readonly within?: Duration
  /** With `all`: no more than the newest so many. @default without limit */
  readonly max?: number
}

/**
 * What becomes of an occurrence that comes due while a run of its schedule is not finished, waiting for a retry included.
 *
 * `skip`: nothing. `queue`: it waits for its turn. `collapse`: it waits, in place of one that waits already.
 * `replace`: the run is cancelled, and the new one starts when it has ended. `allow`: both run.
 */
export type OverlapOption = "skip" | "queue" | "collapse" | "replace" | "allow"

export interface Misfire {
  readonly mode: "latest" | "all"
  readonly withinMs: number | null
  readonly max: number | null
}

export interface Policy {
  readonly misfire: Misfire
  readonly overlap: OverlapOption
}

/** `skip` is `latest` within this. */
const SKIP_WITHIN_MS = 60_000
/** So many can be found again, by going back from the newest, in a moment. */
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

const OVERLAP_NAMES: Readonly<Record<string, OverlapOption>> = {
  skip: "skip",
  queue: "queue",
  collapse: "collapse",
  replace: "replace",
  allow: "allow",
  Skip: "skip",
  BufferAll: "queue",
  CancelOther: "replace",
  AllowAll: "allow",
  Allow: "allow",
  Forbid: "collapse",
  Replace: "replace",
}

/** What other systems call nearly the same: who means it should know the difference. */
const REFUSED_NAMES: Readonly<Record<string, string>> = {
  BufferOne:
    "keeps the oldest of the occurrences that wait, and `collapse` keeps the newest. Say `collapse` if that is what you want",
  TerminateOther:
    "ends a run without telling it. Say `replace`, and `replaceGrace: 0` if it shall not be waited for",
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
    message: 'is for mode "all": "latest" is one run',
  }
  return [...limitsCheck(option, path), ...(hasVainMax ? [vain] : [])]
}

const limitsCheck = object({
  mode: oneOf("latest", "all"),
  within: optional(duration({ min: 1 })),
  max: optional(integer({ min: 1, max: LARGEST_MAX })),
})

export const overlapCheck: Check = (value, path) => {
  if (typeof value === "string" && Object.hasOwn(OVERLAP_NAMES, value)) return []
  const refusal = typeof value === "string" && Object.hasOwn(REFUSED_NAMES, value) && REFUSED_NAMES[value]
  if (refusal) return [{ path, message: `${value} ${refusal}.` }]
  return [expected('"skip", "queue", "collapse", "replace" or "allow"', value, path)]
}

/** Which combinations cannot be honoured. Both are valid by themselves. */
export function policyFaults(misfire: MisfireOption, overlap: OverlapOption | undefined): Fault[] {
  const named = nameOfOverlap(overlap)
  const reason = named && named in WITH_ALL ? WITH_ALL[named as keyof typeof WITH_ALL] : undefined
  if (readMisfire(misfire).mode !== "all" || reason === undefined) return []
  const message = `with misfire "all", ${reason}. Use "queue" (one after the other) or "allow" (all at once), or misfire "latest".`
  return [{ path: "overlap", message }]
}

const WITH_ALL = {
  skip: "only the first of the missed occurrences would ever run",
  collapse: 'all but the newest would be dropped, which is misfire "latest"',
  replace: "each of the missed occurrences would cancel the one before it",
} as const

/** Policies as they were written, by a schedule or by its job. */
export interface PolicyOptions {
  readonly misfire?: MisfireOption
  readonly overlap?: OverlapOption
}

/** Where a policy comes from. */
export type PolicySource = "schedule" | "job" | "default"

export interface SourcedPolicy extends Policy {
  readonly from: { readonly misfire: PolicySource; readonly overlap: PolicySource }
}

/**
 * What the schedule says, else what its job says, else what is usual. All of it has been checked.
 *
 * An overlap that the job prefers gives way where the schedule wants all that was missed, which it could not honour.
 */
export function readPolicy(schedule: PolicyOptions, job: PolicyOptions = {}): SourcedPolicy {
  const misfire = readMisfire(schedule.misfire ?? job.misfire ?? DEFAULTS.misfire)
  const preferred = nameOfOverlap(job.overlap)
  const ofJob = misfire.mode === "all" && preferred && preferred in WITH_ALL ? undefined : preferred
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
  return option === undefined ? undefined : (OVERLAP_NAMES[option] ?? option)
}

function readMisfire(option: MisfireOption): Misfire {
  const named = misfireNamed(option) as MisfireOption
  if (named === "skip") return { mode: "latest", withinMs: SKIP_WITHIN_MS, max: null }
  if (named === "latest" || named === "all") return { mode: named, withinMs: null, max: null }
  return { mode: named.mode, withinMs: parseDuration(named.within) ?? null, max: named.max ?? null }
}

/** Under the name that we have for it, if it is known under another; what is none of them comes back as it is. */
function misfireNamed(value: unknown): unknown {
  if (typeof value === "string") return MISFIRE_NAMES[value]
  if (!isPlainObject(value)) return value
  const [[key, given] = ["", undefined], ...others] = Object.entries(value)
  const alias =
    others.length === 0 && Object.hasOwn(ALIASES, key) ? ALIASES[key as keyof typeof ALIASES] : undefined
  return alias ? alias(given) : value
}
