/** A run that is about to be written, the parameters of the statements that write runs, and their answer. */
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { insertRuns } from "../../store/runs/insert.ts"
import type { Statement } from "../../store/statement.ts"

export interface NewRun {
  readonly id: string
  /** JSON. */
  readonly input: string
  readonly pool: string | null
  readonly priority: number | null
  readonly tenant: string | null
  readonly delayMs: number | null
  readonly runAt: number | null
  readonly startWithinMs: number | null
  readonly key: string | null
  /**
   * How long the key is held after the enqueue, whatever happens to the run; infinity means for ever. `"live"`: until
   * the run has ended. Null: for as long as history knows the run.
   */
  readonly keyFor: number | "live" | null
  readonly tags: readonly string[] | null
  readonly timeoutMs: number | null
  /** JSON. */
  readonly retry: string | null
  /** The key that the limit of its job counts it under. */
  readonly concurrencyKey: string | null
}

/** The fence under which a run is written as already claimed. */
export interface HandOff {
  readonly lease: string
  readonly claim: bigint
  /** The runs were not written as claimed. Their slots are free again. */
  readonly cancel: () => void
}

/** The answer to an enqueue. */
export interface EnqueueOutcome {
  /** For each run, in order: its id, or the id of the run that holds its key. */
  readonly answers: readonly { readonly id: string; readonly created: boolean }[]
  /** The lanes of the new runs. `isTold`: the insert itself has notified other processes. */
  readonly lanes: readonly (InsertedRow & { readonly isTold?: boolean })[]
}

type InsertedRow = typeof insertRuns extends Statement<infer _, infer Row> ? Row : never

/** The name of the limit that a job sets by its `concurrency`. */
export function jobLimit(job: string): string {
  return `job:${job}`
}

export function limitKeyOf(job: string, { concurrencyKey }: Pick<NewRun, "concurrencyKey">): string {
  // Job names may hold colons but no spaces.
  return concurrencyKey === null ? jobLimit(job) : `${jobLimit(job)} ${concurrencyKey}`
}

/** Written out, because a copy by `...` takes four times as long, fifty thousand times in one call. */
export function newRun(options: Omit<NewRun, "id" | "input">, id: string, input: string): NewRun {
  return {
    id,
    input,
    pool: options.pool,
    priority: options.priority,
    tenant: options.tenant,
    delayMs: options.delayMs,
    runAt: options.runAt,
    startWithinMs: options.startWithinMs,
    key: options.key,
    keyFor: options.keyFor,
    tags: options.tags,
    timeoutMs: options.timeoutMs,
    retry: options.retry,
    concurrencyKey: options.concurrencyKey,
  }
}

/** Has the run nothing but an input? */
export function isPlain(run: NewRun): boolean {
  return run.delayMs === null && isPlainBesides(run)
}

/** Has the run nothing but an input and a delay? */
export function isDelayed(run: NewRun): boolean {
  return run.delayMs !== null && run.delayMs > 0 && isPlainBesides(run)
}

function isPlainBesides(run: NewRun): boolean {
  return (
    run.pool === null &&
    run.priority === null &&
    run.tenant === null &&
    run.runAt === null &&
    run.startWithinMs === null &&
    run.key === null &&
    run.tags === null &&
    run.timeoutMs === null &&
    run.retry === null
  )
}

/** The settings of the job, for runs without their own. */
function ofJob(job: EnqueueSettings) {
  return {
    job: job.name,
    pool: job.pool,
    priority: job.priority,
    history: job.history,
    buryWhenLost: job.onLost === "bury",
  }
}

export function oneParams(job: EnqueueSettings, { id, input }: NewRun, notAfter: number | null) {
  return { ...ofJob(job), notAfter, id, input }
}

export function plainParams(
  job: EnqueueSettings,
  runs: readonly NewRun[],
  { notAfter, handOff }: { readonly notAfter: number | null; readonly handOff: HandOff | undefined },
) {
  return {
    ...ofJob(job),
    lease: handOff?.lease ?? null,
    claim: handOff?.claim ?? null,
    notAfter,
    ids: runs.map(({ id }) => id),
    inputs: runs.map(({ input }) => input),
  }
}

export function delayedParams(job: EnqueueSettings, runs: readonly NewRun[], notAfter: number | null) {
  return {
    ...ofJob(job),
    notAfter,
    ids: runs.map(({ id }) => id),
    inputs: runs.map(({ input }) => input),
    delaysMs: runs.map(({ delayMs }) => delayMs ?? 0),
  }
}

export function insertParams(
  job: EnqueueSettings,
  runs: readonly NewRun[],
  { notAfter, handOff }: { readonly notAfter: number | null; readonly handOff: HandOff | undefined },
) {
  const limited = job.concurrency !== null
  return {
    ...ofJob(job),
    limited,
    lease: handOff?.lease ?? null,
    claim: handOff?.claim ?? null,
    notAfter,
    ids: runs.map(({ id }) => id),
    inputs: runs.map(({ input }) => input),
    pools: sparse(runs, ({ pool }) => pool),
    priorities: sparse(runs, ({ priority }) => priority),
    tenants: sparse(runs, ({ tenant }) => tenant),
    delaysMs: sparse(runs, ({ delayMs }) => delayMs),
    runAts: sparse(runs, ({ runAt }) => runAt),
    startWithinsMs: sparse(runs, ({ startWithinMs }) => startWithinMs),
    keys: sparse(runs, ({ key }) => key),
    tags: sparse(runs, ({ tags }) => tags && JSON.stringify(tags)),
    timeoutsMs: sparse(runs, ({ timeoutMs }) => timeoutMs),
    retries: sparse(runs, ({ retry }) => retry),
    limitRuns: limited ? runs.map(({ id }) => id) : [],
    limitKeys: limited ? runs.map((run) => limitKeyOf(job.name, run)) : [],
    limitNames: limited ? runs.map(() => jobLimit(job.name)) : [],
  }
}

/** An empty list stands for the default of every run. */
function sparse<T>(runs: readonly NewRun[], pick: (run: NewRun) => T | null): readonly (T | null)[] {
  return runs.some((run) => pick(run) !== null) ? runs.map(pick) : []
}
