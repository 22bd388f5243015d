/** The options of `enqueue` and `enqueueMany`: what users write, how it is checked, and what it becomes. */
import type { NewRun } from "../../engine/enqueue/new-run.ts"
import type { HandlerTransaction } from "../../job/context.ts"
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

/** What can be said about one run when it is enqueued. */
export interface RunOptions {
  /** How long the run waits before it is due. */
  readonly delay?: Duration
  /** When the run is due. Give this or `delay`. */
  readonly runAt?: Date
  /** Overrides the priority of the job: higher goes first. */
  readonly priority?: number
  /** Overrides the pool of the job. */
  readonly pool?: string
  /** On whose behalf the run is. */
  readonly tenant?: string
  /**
   * Once, however often it is asked for: there is no second run of this job and tenant with the same key for as long as
   * history knows the first, and for 24 hours at the least. `enqueue` answers with the one that is there, whether it
   * waits, runs, is a dead letter or has ended (`created: false`). `keyFor` says otherwise.
   */
  readonly key?: string
  /**
   * For how long the `key` is held.
   *
   * - `"live"`: until the run has ended, however it ends. Then the next one may come.
   * - a duration: for so long after the enqueue, whatever becomes of the run.
   * - `"forever"`: no other run ever has it.
   * - nothing: for as long as history knows the run, and for 24 hours at the least.
   */
  readonly keyFor?: "live" | Duration | "forever"
  /** Up to 20 words to find the run by. */
  readonly tags?: readonly string[]
  /** Overrides the timeout of the job. */
  readonly timeout?: Duration
  /** Overrides the retry policy of the job, as a whole. */
  readonly retry?: RunRetryOptions
  /** If the run is not started within this time after it is due, it expires instead of being started late. */
  readonly startWithin?: Duration
  /** For a job with `concurrency`: its limit holds for the runs of each key, instead of for all runs of the job. */
  readonly concurrencyKey?: string
}

/** The options of `enqueue`. */
export interface EnqueueOptions extends RunOptions, CallerTransaction, CallOptions {}

/** The options of `enqueueMany`. */
export interface EnqueueManyOptions extends CallerTransaction, CallOptions {}

/** A transaction in which something is enqueued. */
export interface CallerTransaction {
  /**
   * Enqueues in a transaction of the caller's: a node-postgres client (`pg.Client` or `pg.PoolClient`) on which a
   * transaction is open on Carillon's database, or what `ctx.transaction` gives. The run exists when, and only if, that
   * transaction commits.
   */
  readonly tx?: PostgresClient | HandlerTransaction
}

/** The part of a node-postgres client that is needed. */
export interface PostgresClient {
  // Clients overload this in many ways; which one is meant is known where it is called.
  /** Runs one statement. */
  readonly query: (...args: never[]) => unknown
}

export type ResolvedRun = Omit<NewRun, "id" | "input">

/** The end of the year 9999. */
export const LAST_INSTANT_MS = 253_402_300_800_000
const KEY_LENGTH = 500
const TENANT_LENGTH = 200
const TAG_LENGTH = 100
const MOST_TAGS = 20

/** What PostgreSQL and ISO 8601 with four digits agree on. */
const runAtCheck = satisfies(
  "a Date between the years 1970 and 9999",
  (value) => isDate(value) && value.getTime() >= 0 && value.getTime() < LAST_INSTANT_MS,
)

/** Any text that the database can hold and an index can keep. */
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
  tenant: optional(shortText(TENANT_LENGTH)),
  key: optional(shortText(KEY_LENGTH)),
  keyFor: optional(keyForCheck),
  tags: optional(tagsCheck),
  timeout: optional(timeoutCheck),
  retry: optional(runRetryCheck),
  startWithin: optional(duration()),
  concurrencyKey: optional(shortText(KEY_LENGTH)),
}

/** A pool has `query` too, but sends each to any session of its own: none of them would be in the transaction. */
const txCheck = satisfies("a node-postgres client (not a pool) or the transaction of a handler", (value) => {
  const { query, totalCount } = (value ?? {}) as { query?: unknown; totalCount?: unknown }
  return typeof query === "function" && totalCount === undefined
})

const enqueueCheck = object({ ...runShape, tx: optional(txCheck) })

/** What an input holds is for its job to judge. */
const itemCheck = object({ input: () => [], ...runShape })

export function resolveEnqueue(options: EnqueueOptions, limited: boolean): ResolvedRun {
  // As most say nothing.
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

/** Nothing but an input, as most of many are. */
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

/** The first few faults of many: nobody reads fifty thousand. */
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

/** Every default. */
const BARE: ResolvedRun = Object.freeze(resolve({}))

/** Options that only make sense together, or not together. */
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
