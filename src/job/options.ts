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
  optional,
  satisfies,
} from "../options/check.ts"
import { type Duration, LONGEST_DURATION_MS, parseDuration } from "../time/duration.ts"
import { isStandardSchema } from "./standard-schema.ts"

/** When a failed run is tried again. */
export interface RetryOptions {
  /**
   * How many attempts a run has, the first included. `1` means that it is never tried again.
   *
   * @default 5
   */
  readonly attempts?: number
  /**
   * The longest wait before the second attempt. Each wait is drawn evenly from nothing to its longest, so that
   * runs which failed together do not come back together.
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
   * still does.
   *
   * @default none
   */
  readonly timeout?: Duration
}

/** `RetryOptions` with every default filled in. */
export interface RetryPolicy {
  readonly attempts: number
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
}

/** The settings of a job with every default filled in. */
export interface ResolvedJob {
  readonly name: string
  readonly pool: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
}

const NAME_LENGTH = 200
const PRIORITY_RANGE = { min: -1_000_000, max: 1_000_000 }

export const poolNameCheck = name(100)
export const priorityCheck = integer(PRIORITY_RANGE)

const jobShape = object({
  name: name(NAME_LENGTH),
  input: optional(satisfies("a Standard Schema (zod, valibot, arktype, ...)", isStandardSchema)),
  pool: optional(poolNameCheck),
  priority: optional(priorityCheck),
  retry: optional(
    object({
      attempts: optional(integer({ min: 1, max: 1_000 })),
      base: optional(duration()),
      factor: optional(number({ min: 1, max: 100 })),
      cap: optional(duration()),
    }),
  ),
  timeout: optional(duration({ min: 1, max: LONGEST_DURATION_MS })),
  run: callable,
})

export const jobCheck: Check = (value, path) => {
  const { base, cap } = (value as { retry?: RetryOptions } | undefined)?.retry ?? {}
  const baseMs = parseDuration(base) ?? DEFAULTS.backoffBaseMs
  const capMs = parseDuration(cap) ?? DEFAULTS.backoffCapMs
  // Only where both were meant: a short cap alone is a wish for short waits.
  const isCrossed = base !== undefined && cap !== undefined && capMs < baseMs
  return [
    ...jobShape(value, path),
    ...(isCrossed ? [expected("at least as long as `base`", cap, "retry.cap")] : []),
  ]
}

export function resolveJob(settings: JobSettings): ResolvedJob {
  const { name: jobName, retry = {} } = settings
  return {
    name: jobName,
    pool: settings.pool ?? DEFAULTS.pool,
    priority: settings.priority ?? DEFAULTS.priority,
    retry: {
      attempts: retry.attempts ?? DEFAULTS.attempts,
      baseMs: parseDuration(retry.base) ?? DEFAULTS.backoffBaseMs,
      factor: retry.factor ?? DEFAULTS.backoffFactor,
      capMs: parseDuration(retry.cap) ?? DEFAULTS.backoffCapMs,
    },
    timeoutMs: parseDuration(settings.timeout) ?? DEFAULTS.timeoutMs,
  }
}
