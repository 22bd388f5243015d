/** The options of a job: their types, their checks, and their defaults. */
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
import type { OverlapOption } from "./overlap.ts"
import { type MisfireOption, misfireCheck, overlapCheck } from "./schedule-policy.ts"
import { isStandardSchema } from "./standard-schema.ts"

/**
 * When Carillon retries a failed run. Without `delay`, `delays` or `after` it uses exponential back-off with full
 * jitter: each wait is random between zero and an upper bound. Jitter spreads the retries of runs that failed together.
 */
export interface RetryOptions extends RunRetryOptions {
  /**
   * Returns how long to wait before the next attempt, or null to make the run a dead letter now. `attempts` still
   * limits the attempts. If the function throws or returns an invalid value, Carillon uses the default back-off and
   * emits `retry.faulty`.
   */
  readonly after?: (failure: Failure) => Duration | null
  /**
   * Errors that a retry cannot fix: their names or codes, or a function that recognises them. Such an error makes the
   * run a dead letter at once.
   */
  readonly final?: readonly string[] | ((error: unknown) => boolean)
}

/** The retry options of one run: those of a job without functions, which Carillon cannot store. */
export interface RunRetryOptions {
  /**
   * The number of attempts, including the first. `1` means no retry.
   *
   * @default 5, or the number of `delays` plus 1
   */
  readonly attempts?: number
  /**
   * The upper bound of the wait before the second attempt.
   *
   * @default "10s"
   */
  readonly base?: Duration
  /**
   * The factor by which the upper bound grows with each attempt. `1` keeps it constant.
   *
   * @default 2
   */
  readonly factor?: number
  /**
   * The largest upper bound of a wait.
   *
   * @default "1h"
   */
  readonly cap?: Duration
  /** A fixed wait before every retry, without jitter. */
  readonly delay?: Duration
  /** The waits before the second attempt, the third, and so on, without jitter. The last one repeats. */
  readonly delays?: readonly Duration[]
}

/** A failed attempt, as `retry.after` receives it. */
export interface Failure {
  /** The number of the attempt that failed, counted from 1. */
  readonly attempt: number
  /** The code of the error, if it had one. */
  readonly code: string | null
  /** The message of the error. */
  readonly message: string
}

/** The settings of a job, without its input schema and handler. */
export interface JobSettings {
  /**
   * The name of the job in the database and in logs. Runs find their handler by this name, so do not change it while
   * the job has unfinished runs. Allowed are letters, digits and `._:/-`.
   */
  readonly name: string
  /**
   * The pool that the job runs in. Each pool has its own slots, so slow jobs in one pool do not delay another.
   *
   * @default "default"
   */
  readonly pool?: string
  /**
   * Runs with a higher priority start first when more runs are ready than slots are free.
   *
   * @default 0
   */
  readonly priority?: number
  /** How often and when Carillon retries a failed run. */
  readonly retry?: RetryOptions
  /**
   * The time limit of an attempt. At the limit `ctx.signal` aborts and the attempt fails, even if the handler goes on
   * or blocks the event loop. If `ctx.transaction` has committed by then, the run has succeeded.
   *
   * @default none
   */
  readonly timeout?: Duration
  /**
   * What happens to a running run when its worker is lost.
   *
   * - `"retry"`: another worker runs it again. The first loss does not count as an attempt; later ones do.
   * - `"bury"`: the run becomes a dead letter. Use this for jobs whose side effects must not happen twice. Carillon
   *   then records every start before the handler runs, which costs one write per run.
   *
   * @default "retry"
   */
  readonly onLost?: "retry" | "bury"
  /**
   * When a worker writes the end of an attempt.
   *
   * - `"batched"`: in a batch with others, within milliseconds. After a crash, attempts that were not written run
   *   again.
   * - `"now"`: at once, in a statement of its own. The slot is free after the write, so a crash repeats only runs whose
   *   handlers were executing.
   *
   * @default "batched"
   */
  readonly settle?: "batched" | "now"
  /**
   * How long finished attempts stay in history: `"short"` 1 day, `"standard"` 7 days, `"long"` 90 days.
   *
   * @default "standard"
   */
  readonly history?: HistoryClass
  /**
   * The most runs of this job that execute at once, in all processes together. With a `concurrencyKey` at `enqueue`,
   * the limit applies to each key. Other runs wait, parked.
   *
   * @default none
   */
  readonly concurrency?: number
  /**
   * Whether a run keeps its place under limits (`concurrency`, the `overlap` of a schedule) when it has timed out, was
   * cancelled or was replaced, and its handler still executes.
   *
   * - `"hold"`: the run keeps its place until the handler returns or the lease of its process ends. The limit therefore
   *   also bounds the number of executing handlers.
   * - `"free"`: the next run may start at once, while the old handler still executes.
   *
   * @default "hold"
   */
  readonly overrun?: "hold" | "free"
  /** The misfire policy of schedules of this job that set none. */
  readonly misfire?: MisfireOption
  /** The overlap policy of schedules of this job that set none. */
  readonly overlap?: OverlapOption
}

/** How long finished attempts stay in history: `"short"` 1 day, `"standard"` 7 days, `"long"` 90 days. */
export type HistoryClass = "short" | "standard" | "long"

/** `RetryOptions` with all defaults applied. */
export interface RetryPolicy {
  /** The number of attempts, including the first. */
  readonly attempts: number
  /** How to compute the wait before a retry. */
  readonly wait: RetryWait
  /** Whether an error makes the run a dead letter at once. */
  readonly isFinal: (error: unknown) => boolean
}

/** How to compute the wait before a retry. */
export type RetryWait =
  | { readonly kind: "exponential"; readonly baseMs: number; readonly factor: number; readonly capMs: number }
  | { readonly kind: "fixed"; readonly delayMs: number }
  | { readonly kind: "list"; readonly delaysMs: readonly number[] }
  | { readonly kind: "function"; readonly after: (failure: Failure) => Duration | null }

/** The settings of a job with all defaults applied. */
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
/** The smallest and the largest cap. */
export const CONCURRENCY_RANGE = { min: 1, max: 1_000_000 }
/** The lowest and the highest priority. */
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
      satisfies("a function, or a list of error names or codes", (final) => isFinalOption(final)),
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
  concurrency: optional(integer(CONCURRENCY_RANGE)),
  overrun: optional(oneOf("hold", "free")),
  misfire: optional(misfireCheck),
  overlap: optional(overlapCheck),
  run: callable,
})

/** Faults of combinations: options that exclude each other, and a cap below its base. */
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
  // A short cap alone is fine: it also limits the default base.
  const isCrossed = base !== undefined && cap !== undefined && capMs < baseMs
  return [
    ...(ways.length > 1
      ? [{ path, message: `set one kind of wait, not ${ways.map(([way]) => way).join(" and ")}` }]
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
    isFinal: typeof final === "function" ? final : (error) => hasNameOrCode(error, final ?? []),
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

function hasNameOrCode(error: unknown, words: readonly string[]): boolean {
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
