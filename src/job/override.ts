/** Settings of a job that an operator may override: their check, and how they meet the settings of the code. */
import { type Check, expected, integer, isPlainObject, object, optional } from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import {
  CONCURRENCY_RANGE,
  type RetryPolicy,
  type RunRetryOptions,
  resolveRetry,
  runRetryCheck,
  timeoutCheck,
} from "./options.ts"

/** The settings to override. What is absent stays as it is. */
export interface JobOverride {
  /**
   * How often and when failed runs are retried, also those that were enqueued with a retry of their own. What is absent
   * in it stays as the code or the run says, and so does which errors are final.
   */
  readonly retry?: RunRetryOptions
  /** The time limit of an attempt, also of runs that were enqueued with a timeout of their own. */
  readonly timeout?: Duration
  /** The most runs that execute at once. The job must declare a `concurrency`. */
  readonly concurrency?: number
}

/** The names of settings that can be overridden, as they are stored. */
export type OverriddenSetting = keyof JobOverride

/** Overridden settings as an engine applies them. */
export interface LiveOverride {
  readonly retry?: RunRetryOptions
  readonly timeoutMs?: number
}

const shape = object({
  retry: optional(runRetryCheck),
  timeout: optional(timeoutCheck),
  concurrency: optional(integer(CONCURRENCY_RANGE)),
})

export const overrideCheck: Check = (value, path) => {
  const faults = shape(value, path)
  if (faults.length > 0) return faults
  const isEmpty = Object.values(value as JobOverride).every((each) => each === undefined)
  return isEmpty ? [expected("at least one of `retry`, `timeout` and `concurrency`", value, path)] : []
}

/** The settings as they are stored: durations of the timeout are milliseconds. */
export function storedOverride({ retry, timeout, concurrency }: JobOverride): [OverriddenSetting, unknown][] {
  return [
    ...(retry === undefined ? [] : [["retry", retry] satisfies [OverriddenSetting, unknown]]),
    ...(timeout === undefined
      ? []
      : [["timeout", parseDuration(timeout)] satisfies [OverriddenSetting, unknown]]),
    ...(concurrency === undefined
      ? []
      : [["concurrency", concurrency] satisfies [OverriddenSetting, unknown]]),
  ]
}

/** Another version may have stored values that make no sense here. They are left out. */
export function readOverride(setting: string, value: unknown): LiveOverride {
  if (setting === "timeout" && timeoutCheck(value, "").length === 0) return { timeoutMs: value as number }
  if (setting === "retry" && runRetryCheck(value, "").length === 0) return { retry: value as RunRetryOptions }
  return {}
}

/** The policy with what the override says. The wait changes only if the override has one. */
export function overriddenRetry<Policy extends Partial<RetryPolicy>>(
  policy: Policy,
  options: RunRetryOptions,
): Policy & Pick<RetryPolicy, "attempts" | "wait"> {
  const { attempts, wait } = resolveRetry(options)
  const { attempts: ownAttempts, ...rest } = options
  const hasWait = Object.values(rest).some((value) => value !== undefined)
  return {
    ...policy,
    attempts: ownAttempts ?? policy.attempts ?? attempts,
    wait: hasWait || policy.wait === undefined ? wait : policy.wait,
  }
}

/** A stored setting with what its override says. */
export function overriddenSetting(setting: string, stored: unknown, value: unknown): unknown {
  if (setting !== "retry") return value
  const policy = isPlainObject(stored) ? stored : {}
  return runRetryCheck(value, "").length === 0 ? overriddenRetry(policy, value as RunRetryOptions) : stored
}
