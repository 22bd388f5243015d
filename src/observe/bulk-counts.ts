/** How far a bulk operation has come, as its record and its events say it. */

/** How many runs a bulk operation has come to, and what became of them. */
export interface BulkCounts {
  /** How many it has come to. */
  readonly seen: number
  /** How many it has changed. */
  readonly done: number
  /** How many it has left as they were: another change came first, or the action does not change such a run. */
  readonly skipped: number
  /** How many could not be changed. The operation says why, in `errors`. */
  readonly failed: number
}
