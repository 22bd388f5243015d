/** What can be asked of a backfill, and what is answered. */
import type { Reprocess } from "../../schedule/backfill.ts"
import type { ByWhom } from "../actor.ts"

/** Which of the past a backfill makes runs of. */
export interface BackfillOptions extends ByWhom {
  /** Which schedule of several tenants. */
  readonly tenant?: string
  /** The first occurrences are at this time or later. */
  readonly from: Date
  /** The last ones are before this time, which is not later than now. */
  readonly to: Date
  /**
   * Which of the occurrences get a run.
   *
   * - `"missing"`: those that have had none: skipped, made up for by another, or never planned before.
   * - `"failed"`: also those whose last run is a dead letter or has expired, as far as that is known.
   * - `"all"`: every one, again.
   *
   * One whose run is not finished is left alone in any case.
   *
   * @default "missing"
   */
  readonly reprocess?: Reprocess
  /**
   * With which of them it begins.
   *
   * @default "oldest"
   */
  readonly order?: "oldest" | "newest"
  /**
   * How many of its runs go on at once. One that waits for its retry goes on.
   *
   * @default 1
   */
  readonly maxParallel?: number
  /**
   * The priority of its runs.
   *
   * @default one below the schedule's
   */
  readonly priority?: number
  /** Makes nothing, and says how many it would make. */
  readonly dryRun?: boolean
  /** Also for more than 10,000 occurrences, and for those that the ledger does not know any more. */
  readonly force?: boolean
  /**
   * Lets its runs stand in one line with those of the schedule, in the order of their occurrences: they then wait for each
   * other, and `overlap: "skip"` leaves out what comes due meanwhile. Has no effect where overlaps are allowed.
   *
   * @default false
   */
  readonly shareOverlap?: boolean
}

/** What a backfill has made. */
export interface BackfillResult {
  /** How many occurrences were to get a run. */
  readonly count: number
  /** How many runs were made: fewer when somebody else was making them at the same time. Absent after a dry run. */
  readonly runs?: number
}
