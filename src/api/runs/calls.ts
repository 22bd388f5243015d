/** What can be asked of runs and done to them, and what is answered. */
import type { RunFilter } from "../../filter/run-filter.ts"
import type { Cancelled } from "../../operations/runs/cancel.ts"
import type { RunCount } from "../../operations/runs/count.ts"
import type { Run } from "../../operations/runs/run.ts"
import type { Duration } from "../../time/duration.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"
import type { ChangeOptions } from "../caller-transaction.ts"
import type { AttemptLogs, AttemptRecord } from "./attempt-record.ts"
import type { CloneChanges } from "./enqueue-options.ts"
import type { RunHandle } from "./run-handle.ts"

/** The calls for runs, in all states. */
export interface Runs {
  /** A run; `undefined` for one that never was, or that history does not know any more. */
  readonly get: (runId: string, options?: CallOptions) => Promise<Run | undefined>
  /**
   * Runs, the newest first, a page at a time.
   *
   * No run is on two pages. Every run that was committed before the first page, and meets the filter when its page is
   * read, is on one of them.
   *
   * @example
   * const { items, nextCursor } = await carillon.runs.list({ filter: { state: "dead", job: "invoice.*" } })
   */
  readonly list: (options?: RunListOptions & CallOptions) => Promise<RunPage>
  /** How many runs there are. More than `upTo` are not counted. */
  readonly count: (options?: RunCountOptions & CallOptions) => Promise<RunCount>
  /** Lists all finished attempts of a run, oldest first. */
  readonly attempts: (runId: string, options?: CallOptions) => Promise<AttemptRecord[]>
  /** What the handlers of a run logged in its finished attempts, oldest first. Attempts without lines are left out. */
  readonly logs: (runId: string, options?: CallOptions) => Promise<AttemptLogs[]>
  /**
   * Waits for the end of one run or of up to 1,000, in any process, and returns them as they ended. A
   * dead run has ended, unless it is replayed meanwhile.
   *
   * Throws `RUN_NOT_FOUND` if one of them is not known, and `RUN_NOT_ENDED` at the deadline, if there is one. The runs
   * go on. Throws the reason of `signal` if that aborts.
   *
   * @example
   * const { state, result } = await carillon.runs.wait(id, { deadline: "30s" })
   */
  readonly wait: {
    (runId: string, options?: RunWaitOptions): Promise<Run>
    (runIds: readonly string[], options?: RunWaitOptions): Promise<Run[]>
  }
  /**
   * Cancels a run in any state. A run that is not running ends at once. The handler of a running run gets the abort of
   * `ctx.signal`, and the run ends as cancelled, even if the handler returns a result.
   */
  readonly cancel: (runId: string, by?: ByWhom & ChangeOptions) => Promise<Cancelled>
  /** Makes a waiting run due now, or changes the priority of a run. Returns whether the run was changed. */
  readonly expedite: (runId: string, options?: ExpediteOptions & CallOptions) => Promise<boolean>
  /**
   * Makes a run wait until an instant, or for a time from now. It gives up its turn and its places under limits. The
   * time within which it must start begins anew. Throws `RUN_RUNNING`, `RUN_ENDED`, or `RUN_HELD` for a run that the
   * pause of its schedule holds.
   *
   * @example await carillon.runs.delay(id, "2h", { reason: "the mail server is down" })
   */
  readonly delay: (runId: string, until: Date | Duration, by?: ByWhom & CallOptions) => Promise<void>
  /** Moves a run to another pool. It keeps its place in line under limits. Throws `RUN_RUNNING` or `RUN_ENDED`. */
  readonly move: (runId: string, pool: string, by?: ByWhom & CallOptions) => Promise<void>
  /** Changes the priority, the tags or the input of a run that is not running. Throws `RUN_RUNNING` or `RUN_ENDED`. */
  readonly edit: (runId: string, edit: RunEdit, by?: ByWhom & CallOptions) => Promise<void>
  /**
   * Runs an ended run once more: a new run with the same input, pool, priority, tenant, tags and timeout. Its `rerunOf`
   * is the old run. It has an idempotency key of its own, and no `key`. Throws `RUN_NOT_ENDED`, or `RUN_SCHEDULED` for
   * a run of a schedule.
   */
  readonly rerun: (runId: string, options?: RerunOptions & CallOptions) => Promise<RunHandle<unknown>>
  /**
   * Makes a new run from a run in any state: like `rerun`, but for what `changes` says. A clone of a run of a schedule
   * does not belong to the schedule.
   */
  readonly clone: (
    runId: string,
    changes?: CloneChanges,
    by?: ByWhom & CallOptions,
  ) => Promise<RunHandle<unknown>>
}

/** What `edit` changes of a run. What is left out stays. */
export interface RunEdit {
  /** Higher ones go first. */
  readonly priority?: number
  /** Up to 20 words for finding the run. They replace all earlier ones. */
  readonly tags?: readonly string[]
  /** Another input. The schema of the job checks it, if this process has the job. */
  readonly input?: unknown
}

/** The options of `rerun`. */
export interface RerunOptions extends ByWhom {
  /**
   * For a job with `concurrency`, the key of the limit. History does not know that of the original.
   *
   * @default one limit for all runs of the job
   */
  readonly concurrencyKey?: string
}

/** Which runs are asked for. */
export interface RunListOptions {
  /** Which runs are meant: an object or a text; see the page about filters. All, if it is left out. */
  readonly filter?: RunFilter | string
  /** Only runs of this tenant. The filter cannot name another. */
  readonly tenant?: string
  /**
   * How many runs a page has at the most: 1 to 1,000.
   *
   * @default 50
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `nextCursor`, given with the same filter. */
  readonly cursor?: string
}

/** A page of runs. */
export interface RunPage {
  /** The newest first. Inputs and results of more than 8 MiB together end a page early. */
  readonly items: readonly Run[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
  /**
   * There if the page ended before it was full: so many rows of each store were looked at for it. The next page goes on
   * behind them.
   */
  readonly searched?: number
}

/** Which runs are counted. */
export interface RunCountOptions {
  /** Which runs are meant: an object or a text. All, if it is left out. */
  readonly filter?: RunFilter | string
  /** Only runs of this tenant. The filter cannot name another. */
  readonly tenant?: string
  /**
   * Where the count ends: 1 to 1,000,000.
   *
   * @default 10000
   */
  readonly upTo?: number
}

/** How long `wait` waits. */
export interface RunWaitOptions {
  /**
   * How long the call waits at the most.
   *
   * @default as long as it takes
   */
  readonly deadline?: Duration
  /** Ends the waiting when it aborts. The runs go on. */
  readonly signal?: AbortSignal
}

/** The options of `expedite`: the new priority, the actor and the reason. */
export interface ExpediteOptions extends ByWhom {
  /**
   * The new priority.
   *
   * @default the priority stays
   */
  readonly priority?: number
}
