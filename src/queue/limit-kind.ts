/** What a key is that runs stand in line under, and what follows from that, as one table. SQL and TypeScript ask it. */

/**
 * `schedule`: the runs of one schedule, which must not overlap. `overlap`: the same for all schedules with one
 * `overlapKey`. `backfill`: the runs that backfills of one schedule make. `job`: the runs of a job with a limit.
 */
export type LimitKind = "schedule" | "overlap" | "backfill" | "job"

export interface LimitBehaviour {
  /** The line has the order of the occurrences, also when an earlier run comes back to it. */
  readonly isOrdered: boolean
  /** A run keeps its place while it waits for its next attempt or is paused. */
  readonly keepsPlace: boolean
  /** A run keeps its place even if no live worker knows its job. */
  readonly keepsUnhandled: boolean
}

export const LIMIT_KINDS: Readonly<Record<LimitKind, LimitBehaviour>> = {
  schedule: { isOrdered: true, keepsPlace: true, keepsUnhandled: true },
  // Other schedules with the key do not wait for a job that may never come back.
  overlap: { isOrdered: true, keepsPlace: true, keepsUnhandled: false },
  backfill: { isOrdered: true, keepsPlace: true, keepsUnhandled: true },
  job: { isOrdered: false, keepsPlace: false, keepsUnhandled: false },
}
