/** The options of `enqueue` and `enqueueMany`: what users write, the checks, and the resolved values. */
import type { NewRun } from "../../engine/enqueue/new-run.ts"
import {
  poolNameCheck,
  priorityCheck,
  type RunRetryOptions,
  runRetryCheck,
  timeoutCheck,
} from "../../job/options.ts"
import {
  array,
  assertOptions,
  type Check,
  duration,
  expected,
  isPlainObject,
  object,
  optional,
  satisfies,
} from "../../options/check.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { isDate } from "../../time/instant.ts"
import type { CallOptions } from "../call-options.ts"
import { type CallerTransaction, txCheck } from "../caller-transaction.ts"

/** The options of one run when it is enqueued. */
export interface RunOptions {
  /**
   * How long the run waits before it is due. Not together with `runAt`.
   *
   * @default no delay
   */
  readonly delay?: Duration
  /**
   * When the run is due. Not together with `delay`.
   *
   * @default now
   */
  readonly runAt?: Date
  /**
   * Overrides the priority of the job. Higher runs go first.
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
   * The tenant that the run belongs to. Idempotency keys are unique within a tenant.
   *
   * @default no tenant
   */
  readonly tenant?: string
  /**
   * The idempotency key: a second `enqueue` of this job and tenant with the same key makes no run. It returns the
   * existing run with `created: false`, also if that run is a dead letter or has ended. `keyFor` says for how long.
   *
   * @default no key: every `enqueue` makes a run
   */
  readonly key?: string
  /**
   * How long the run holds its `key`.
   *
   * - `"live"`: until the run has ended, in any state.
   * - a duration: for that time after the enqueue, even if the run ends earlier.
   * - `"forever"`: no other run can ever have the key.
   * - nothing: while history keeps the run, and at least 24 hours.
   */
  readonly keyFor?: "live" | Duration | "forever"
  /**
   * Up to 20 words for finding the run.
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
   * Replaces the whole retry policy of the job.
   *
   * @default the retry policy of the job
   */
  readonly retry?: RunRetryOptions
  /**
   * The longest time between due and start. A run that has not started by then expires.
   *
   * @default no limit
   */
  readonly startWithin?: Duration
  /**
   * For a job with `concurrency`: the limit holds for the runs of each key, instead of for all runs of the job.
   *
   * @default one limit for all runs of the job
   */
  readonly concurrencyKey?: string
}

/** What a clone has of its own. It takes everything else from the run that it is made from. */
export interface CloneChanges extends RunOptions {
  /**
   * Another input.
   *
   * @default the input of the original
   */
  readonly input?: unknown
}

/** The options of `enqueue`. */
export interface EnqueueOptions extends RunOptions, CallerTransaction, CallOptions {}

/** The options of `enqueueMany`. */
export interface EnqueueManyOptions extends CallerTransaction, CallOptions {}

export type ResolvedRun = Omit<NewRun, "id" | "input">

/** The end of the year 9999. */
export const LAST_INSTANT_MS = 253_402_300_800_000
const KEY_LENGTH = 500
export const TENANT_LENGTH = 200
const TAG_LENGTH = 100
const MOST_TAGS = 20

/** The years that both PostgreSQL and four-digit ISO 8601 can write. */
const runAtCheck = satisfies(
  "a Date between the years 1970 and 9999",
  (value) => isDate(value) && value.getTime() >= 0 && value.getTime() < LAST_INSTANT_MS,
)

/** A text that the database can store and an index can hold. */
export function shortText(maxLength: number): Check {
  return satisfies(
    `a text of 1 to ${maxLength} characters without NUL or lone surrogates`,
    (value) =>
      typeof value === "string" &&
      value !== "" &&
      value.length <= maxLength &&
      value.isWellFormed() &&
      !value.includes("\0"),
  )
}

export const tenantNameCheck = shortText(TENANT_LENGTH)

export const tagsCheck: Check = (value, path) =>
  Array.isArray(value) && value.length > MOST_TAGS
    ? [expected(`at most ${MOST_TAGS} tags`, value, path)]
    : array(shortText(TAG_LENGTH))(value, path)

const keyForCheck: Check = (value, path) => {
  if (typeof value === "number" || parseDuration(value) !== undefined)
    return duration({ min: 1 })(value, path)
  const isWord = value === "live" || value === "forever"
  return isWord ? [] : [expected('"live", "forever" or a duration like "1d"', value, path)]
}

const runShape = {
  delay: optional(duration()),
  runAt: optional(runAtCheck),
  priority: optional(priorityCheck),
  pool: optional(poolNameCheck),
  tenant: optional(tenantNameCheck),
  key: optional(shortText(KEY_LENGTH)),
  keyFor: optional(keyForCheck),
  tags: optional(tagsCheck),
  timeout: optional(timeoutCheck),
  retry: optional(runRetryCheck),
  startWithin: optional(duration()),
  concurrencyKey: optional(shortText(KEY_LENGTH)),
}

const enqueueCheck = object({ ...runShape, tx: optional(txCheck) })

/** The schema of the job checks the input. */
const itemCheck = object({ input: () => [], ...runShape })

/** The changes of a clone, which may have an input. */
export function resolveClone(changes: CloneChanges, limited: boolean): ResolvedRun {
  assertOptions("runs.clone", changes, (value, path) => [
    ...itemCheck(value, path),
    ...crossed(value, path, limited),
  ])
  return resolve(changes)
}

export function resolveEnqueue(options: EnqueueOptions, limited: boolean): ResolvedRun {
  // Most calls have no options.
  if (isPlainObject(options) && Object.keys(options).length === 0) return BARE
  assertOptions("enqueue", options, (value, path) => [
    ...enqueueCheck(value, path),
    ...crossed(value, path, limited),
  ])
  return resolve(options)
}

/** One item of `enqueueMany`, with its input. */
export type EnqueueItem<Input> = RunOptions &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

export function resolveItems(items: readonly EnqueueItem<unknown>[], limited: boolean): ResolvedRun[] {
  const item: Check = (value, path) => {
    if (isBare(value)) return []
    return isPlainObject(value)
      ? [...itemCheck(value, path), ...crossed(value, path, limited)]
      : [expected("an object with an input", value, path)]
  }
  assertOptions("enqueueMany", items, (value, path) => {
    if (!Array.isArray(value)) return [expected("an array of items", value, path || "items")]
    if (value.length > MOST_ITEMS) return [expected(`at most ${MOST_ITEMS} items`, value, "items")]
    return firstFaults(value, (each, index) => item(each, `items[${index}]`))
  })
  return items.map((each) => (isBare(each) ? BARE : resolve(each)))
}

/** Has the item only an input? Most items of `enqueueMany` do. */
function isBare(item: unknown): boolean {
  if (!isPlainObject(item)) return false
  for (const key in item) if (key !== "input") return false
  return true
}

export function resolveManyOptions(options: CallerTransaction): void {
  assertOptions("enqueueMany", options, object({ tx: optional(txCheck) }))
}

const MOST_ITEMS = 50_000
const MOST_FAULTS = 20

/** The first faults of a long list. Fifty thousand would hide the first. */
function firstFaults<T>(items: readonly T[], check: (item: T, index: number) => ReturnType<Check>) {
  const faults: ReturnType<Check> = []
  for (const [index, each] of items.entries()) {
    faults.push(...check(each, index))
    if (faults.length >= MOST_FAULTS) break
  }
  return faults
}

function resolve(options: RunOptions): ResolvedRun {
  return {
    pool: options.pool ?? null,
    priority: options.priority ?? null,
    tenant: options.tenant ?? null,
    delayMs: parseDuration(options.delay) ?? null,
    runAt: options.runAt?.getTime() ?? null,
    startWithinMs: parseDuration(options.startWithin) ?? null,
    key: options.key ?? null,
    keyFor: keyForOf(options.keyFor),
    tags: options.tags ?? null,
    timeoutMs: parseDuration(options.timeout) ?? null,
    retry: options.retry ? JSON.stringify(options.retry) : null,
    concurrencyKey: options.concurrencyKey ?? null,
  }
}

function keyForOf(keyFor: RunOptions["keyFor"]): NewRun["keyFor"] {
  if (keyFor === "live") return "live"
  if (keyFor === "forever") return Number.POSITIVE_INFINITY
  return parseDuration(keyFor) ?? null
}

/** The options of a run without options. */
const BARE: ResolvedRun = Object.freeze(resolve({}))

/** The faults of options that need or exclude each other. */
function crossed(value: unknown, path: string, limited: boolean) {
  const { delay, runAt, key, keyFor, concurrencyKey } = (value ?? {}) as RunOptions
  const at = (name: string) => (path === "" ? name : `${path}.${name}`)
  return [
    ...(delay !== undefined && runAt !== undefined
      ? [{ path: at("delay"), message: "expected either `delay` or `runAt`, got both" }]
      : []),
    ...(keyFor !== undefined && key === undefined ? [expected("a `key` to hold", undefined, at("key"))] : []),
    ...(concurrencyKey !== undefined && !limited
      ? [{ path: at("concurrencyKey"), message: "the job has no `concurrency` that it could divide" }]
      : []),
  ]
}
