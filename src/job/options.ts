/** The options of a job: what users write, how it is checked, and what it becomes with the defaults filled in. */
import { DEFAULTS } from "../defaults.ts"
import {
  type Check,
  callable,
  duration,
  expected,
  integer,
  name,
  number,
  object,
  oneOf,
  optional,
  satisfies,
} from "../options/check.ts"
import { type Duration, LONGEST_DURATION_MS, parseDuration } from "../time/duration.ts"
import { type MisfireOption, misfireCheck, type OverlapOption, overlapCheck } from "./schedule-policy.ts"
import { isStandardSchema } from "./standard-schema.ts"

/**
 * When a failed run is tried again. Without `delay`, `delays` or `after`, waits grow exponentially and are drawn evenly
 * from nothing to their longest, so that runs which failed together do not come back together.
 */
export interface RetryOptions extends RunRetryOptions {
  /**
   * Decides by itself: returns how long to wait before the next attempt, or null to give the run up now. `attempts`
   * still bounds it. Where it throws or returns nonsense, the default back-off is used and a `retry.faulty` event says so.
   */
  readonly after?: (failure: Failure) => Duration | null
  /**
   * Which errors make further attempts pointless: their names or codes, or a function that says so. The run becomes a
   * dead letter at once.
   */
  readonly final?: readonly string[] | ((error: unknown) => boolean)
}

/** What can be said about one run: the same without functions, which cannot be stored. */
export interface RunRetryOptions {
  /**
   * How many attempts a run has, the first included. `1` means that it is never tried again.
   *
   * @default 5, or one more than there are `delays`
   */
  readonly attempts?: number
  /**
   * The longest wait before the second attempt.
   *
   * @default "10s"
   */
  readonly base?: Duration
  /**
   * By how much the longest wait grows with each attempt. `1` keeps it the same.
   *
   * @default 2
   */
  readonly factor?: number
  /**
   * The longest wait of all.
   *
   * @default "1h"
   */
  readonly cap?: Duration
  /** The same wait before every attempt, without chance. */
  readonly delay?: Duration
  /** The wait before the second attempt, the third, and so on; the last one also holds for those after it. */
  readonly delays?: readonly Duration[]
}

/** A failed attempt, as a retry function sees it. */
export interface Failure {
  /** The number of the attempt that failed, counted from 1. */
  readonly attempt: number
  /** The code of the error, if it had one. */
  readonly code: string | null
  /** The message of the error. */
  readonly message: string
}

/** The settings of a job that are not code. */
export interface JobSettings {
  /**
   * What the job is called in the database, in logs and on the dashboard. Runs find their handler by it, so it
   * stays the same while runs of it exist: letters, digits and any of `._:/-`.
   */
  readonly name: string
  /**
   * The lane the job runs in. Each pool has slots of its own, so slow jobs in one do not hold up another.
   *
   * @default "default"
   */
  readonly pool?: string
  /**
   * Which runs go first when more are ready than slots are free: higher ones.
   *
   * @default 0
   */
  readonly priority?: number
  /** What happens after a failed attempt. */
  readonly retry?: RetryOptions
  /**
   * How long an attempt may take. After that `ctx.signal` aborts and the attempt has failed, whatever the handler
   * still does; so has one whose handler blocks the event loop for longer. Only what `ctx.transaction` has committed by
   * then stays.
   *
   * @default none
   */
  readonly timeout?: Duration
  /**
   * What happens when the worker of a running run is lost.
   *
   * - `"retry"`: the run is tried again elsewhere. The first loss is free; further ones count as attempts.
   * - `"bury"`: the run becomes a dead letter, for jobs whose effects must not happen twice. Every start is then
   *   written down before the handler runs, which costs a write per run.
   *
   * @default "retry"
   */
  readonly onLost?: "retry" | "bury"
  /**
   * When the end of an attempt is written down.
   *
   * - `"batched"`: together with others, within milliseconds. A crash repeats what was not written yet.
   * - `"now"`: at once and alone; the slot is free when it is written, so a crash repeats at most the runs that were
   *   being executed.
   *
   * @default "batched"
   */
  readonly settle?: "batched" | "now"
  /**
   * How long finished attempts are kept: `"short"` 1 day, `"standard"` 7 days, `"long"` 90 days.
   *
   * @default "standard"
   */
  readonly history?: HistoryClass
  /**
   * At most so many runs of this job are executed at once, in all processes together; with a `concurrencyKey` at
   * `enqueue`, so many of each key. The others are parked, in line.
   *
   * @default none
   */
  readonly concurrency?: number
  /**
   * What becomes of the place under limits (`concurrency`, the `overlap` of a schedule) of a run that has timed out, was
   * cancelled or is replaced, while its handler goes on.
   *
   * - `"hold"`: the run has its place until the handler has returned, or the lease of its process is over. So there are
   *   never more handlers at once than the limit allows.
   * - `"free"`: the next run may start at once, beside the handler that goes on.
   *
   * @default "hold"
   */
  readonly overrun?: "hold" | "free"
  /** What schedules of this job do about missed occurrences, unless they say otherwise. */
  readonly misfire?: MisfireOption
  /** What schedules of this job do about an occurrence that comes while a run is not finished, unless they say otherwise. */
  readonly overlap?: OverlapOption
}

/** How long finished attempts are kept: `"short"` 1 day, `"standard"` 7 days, `"long"` 90 days. */
export type HistoryClass = "short" | "standard" | "long"

/** `RetryOptions` with every default filled in. */
export interface RetryPolicy {
  /** How many attempts a run has, the first included. */
  readonly attempts: number
  /** How long it waits before another one. */
  readonly wait: RetryWait
  /** Whether an error makes further attempts pointless. */
  readonly isFinal: (error: unknown) => boolean
}

/** How long to wait before another attempt. */
export type RetryWait =
  | { readonly kind: "exponential"; readonly baseMs: number; readonly factor: number; readonly capMs: number }
  | { readonly kind: "fixed"; readonly delayMs: number }
  | { readonly kind: "list"; readonly delaysMs: readonly number[] }
  | { readonly kind: "function"; readonly after: (failure: Failure) => Duration | null }

/** The settings of a job with every default filled in. */
export interface ResolvedJob {
  readonly name: string
  readonly pool: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly onLost: "retry" | "bury"
  readonly settle: "batched" | "now"
  readonly history: HistoryClass
  readonly concurrency: number | null
  readonly overrun: "hold" | "free"
  readonly misfire: MisfireOption | null
  readonly overlap: OverlapOption | null
}

const NAME_LENGTH = 200
/** The least and the highest priority there is. */
export const PRIORITY_RANGE = { min: -1_000_000, max: 1_000_000 }

export const jobNameCheck = name(NAME_LENGTH)
export const poolNameCheck = name(100)
export const priorityCheck = integer(PRIORITY_RANGE)

const waitShape = {
  attempts: optional(integer({ min: 1, max: 1_000 })),
  base: optional(duration()),
  factor: optional(number({ min: 1, max: 100 })),
  cap: optional(duration()),
  delay: optional(duration()),
  delays: optional(satisfies("a list of 1 to 100 durations", (value) => isDurationList(value))),
}

/** The retry options of one run. */
export const runRetryCheck: Check = (value, path) => [
  ...object(waitShape)(value, path),
  ...crossedRetry(value, path),
]

const retryCheck: Check = (value, path) => [
  ...object({
    ...waitShape,
    after: optional(callable),
    final: optional(
      satisfies("a function, or a list of names or codes of errors", (final) => isFinalOption(final)),
    ),
  })(value, path),
  ...crossedRetry(value, path),
]

export const timeoutCheck = duration({ min: 1, max: LONGEST_DURATION_MS })

export const jobCheck = object({
  name: jobNameCheck,
  input: optional(satisfies("a Standard Schema (zod, valibot, arktype, ...)", isStandardSchema)),
  pool: optional(poolNameCheck),
  priority: optional(priorityCheck),
  retry: optional(retryCheck),
  timeout: optional(timeoutCheck),
  onLost: optional(oneOf("retry", "bury")),
  settle: optional(oneOf("batched", "now")),
  history: optional(oneOf("short", "standard", "long")),
  concurrency: optional(integer({ min: 1, max: 1_000_000 })),
  overrun: optional(oneOf("hold", "free")),
  misfire: optional(misfireCheck),
  overlap: optional(overlapCheck),
  run: callable,
})

/** Options that exclude each other, and a cap below its base. */
function crossedRetry(value: unknown, path: string) {
  const { base, factor, cap, delay, delays, after } = (value ?? {}) as RetryOptions
  const ways = [
    ["base, factor and cap", base ?? factor ?? cap],
    ["delay", delay],
    ["delays", delays],
    ["after", after],
  ].filter(([, given]) => given !== undefined)
  const baseMs = parseDuration(base) ?? DEFAULTS.backoffBaseMs
  const capMs = parseDuration(cap) ?? DEFAULTS.backoffCapMs
  // Only where both were meant: a short cap alone is a wish for short waits.
  const isCrossed = base !== undefined && cap !== undefined && capMs < baseMs
  return [
    ...(ways.length > 1
      ? [{ path, message: `give one way to wait, not ${ways.map(([way]) => way).join(" and ")}` }]
      : []),
    ...(isCrossed ? [expected("at least as long as `base`", cap, `${path}.cap`)] : []),
  ]
}

export function resolveJob(settings: JobSettings): ResolvedJob {
  return {
    name: settings.name,
    pool: settings.pool ?? DEFAULTS.pool,
    priority: settings.priority ?? DEFAULTS.priority,
    retry: resolveRetry(settings.retry ?? {}),
    timeoutMs: parseDuration(settings.timeout) ?? DEFAULTS.timeoutMs,
    onLost: settings.onLost ?? DEFAULTS.onLost,
    settle: settings.settle ?? DEFAULTS.settle,
    history: settings.history ?? DEFAULTS.history,
    concurrency: settings.concurrency ?? DEFAULTS.concurrency,
    overrun: settings.overrun ?? DEFAULTS.overrun,
    misfire: settings.misfire ?? null,
    overlap: settings.overlap ?? null,
  }
}

export function resolveRetry(retry: RetryOptions): RetryPolicy {
  const { attempts, delays, final } = retry
  return {
    attempts: attempts ?? (delays ? delays.length + 1 : DEFAULTS.attempts),
    wait: waitOf(retry),
    isFinal: typeof final === "function" ? final : (error) => bearsOneOf(error, final ?? []),
  }
}

function waitOf({ base, factor, cap, delay, delays, after }: RetryOptions): RetryWait {
  if (after) return { kind: "function", after }
  if (delays) return { kind: "list", delaysMs: delays.map((each) => parseDuration(each) ?? 0) }
  const delayMs = parseDuration(delay)
  if (delayMs !== undefined) return { kind: "fixed", delayMs }
  return {
    kind: "exponential",
    baseMs: parseDuration(base) ?? DEFAULTS.backoffBaseMs,
    factor: factor ?? DEFAULTS.backoffFactor,
    capMs: parseDuration(cap) ?? DEFAULTS.backoffCapMs,
  }
}

function bearsOneOf(error: unknown, words: readonly string[]): boolean {
  if (words.length === 0 || typeof error !== "object" || error === null) return false
  const { name: errorName, code } = error as { name?: unknown; code?: unknown }
  return words.includes(errorName as string) || words.includes(code as string)
}

function isDurationList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= 100 &&
    value.every((each) => parseDuration(each) !== undefined)
  )
}

function isFinalOption(value: unknown): boolean {
  if (typeof value === "function") return true
  return Array.isArray(value) && value.every((word) => typeof word === "string" && word !== "")
}
