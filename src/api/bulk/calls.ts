/** What can be asked of bulk operations, and what is answered. */
import type { RunFilter } from "../../filter/run-filter.ts"
import type { BulkAction, BulkActionOptions } from "../../operations/bulk/actions.ts"
import type { BulkPreview } from "../../operations/bulk/preview.ts"
import type { BulkOperation, BulkState } from "../../operations/bulk/record.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"
import type { PageOptions } from "../page-cursor.ts"

/** One action on all runs that meet a filter. */
export interface BulkRequest extends BulkActionOptions {
  /**
   * What is done with each run.
   *
   * - `cancel`: as `runs.cancel`, for runs that have not ended.
   * - `expedite`: as `runs.expedite`, for runs that wait for their time or are ready. Takes a `priority`.
   * - `replay`, `discard`: as `deadLetters.replay` and `discard`, for dead letters.
   */
  readonly action: BulkAction
  /** Which runs are meant: an object or a text, with one condition at least. See the page about filters. */
  readonly filter: RunFilter | string
}

/** What is previewed. */
export interface BulkPreviewOptions extends BulkRequest {
  /**
   * Where the count ends: 1 to 1,000,000.
   *
   * @default 10000
   */
  readonly upTo?: number
}

/** What is started, how fast, by whom and why. */
export interface BulkStartOptions extends BulkRequest, ByWhom {
  /**
   * How many runs are changed at most in a second, a minute or an hour, by all processes together: "50/s", "600/m",
   * "1000/h".
   *
   * @default as fast as the database takes them
   */
  readonly pace?: string
}

/** Which bulk operations are listed. */
export interface BulkListOptions extends PageOptions {
  /** Only those in this state. */
  readonly state?: BulkState
}

/** A page of bulk operations. */
export interface BulkPage {
  /** The newest first. */
  readonly items: readonly BulkOperation[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

/** What can be done with many runs at once: `carillon.bulk`. */
export interface Bulk {
  /** Says what an operation would do now, and changes nothing. */
  readonly preview: (request: BulkPreviewOptions & CallOptions) => Promise<BulkPreview>
  /**
   * Starts an operation on all runs that meet the filter and were enqueued before. Any process that was started carries
   * it on, in batches, from the newest run to the oldest, and comes to each run once, also if processes are killed. A
   * run that no longer meets the filter when its turn comes is skipped.
   *
   * @example
   * const { id } = await carillon.bulk.start({
   *   action: "replay",
   *   filter: "job:invoice.* error:TIMEOUT",
   *   pace: "50/s",
   *   reason: "the bank is back",
   * })
   */
  readonly start: (request: BulkStartOptions & CallOptions) => Promise<BulkOperation>
  /** One operation; `undefined` if there is none with this id. */
  readonly get: (id: string, options?: CallOptions) => Promise<BulkOperation | undefined>
  /** Operations, the newest first, a page at a time. */
  readonly list: (options?: BulkListOptions & CallOptions) => Promise<BulkPage>
  /** Stops an operation until `resume`. When the call resolves, no process changes a run for it. */
  readonly pause: (id: string, by?: ByWhom & CallOptions) => Promise<BulkOperation>
  /** Lets a paused operation go on where it was. */
  readonly resume: (id: string, by?: ByWhom & CallOptions) => Promise<BulkOperation>
  /** Ends an operation before it has come to all runs. What it has done stays done. */
  readonly abort: (id: string, by?: ByWhom & CallOptions) => Promise<BulkOperation>
}
