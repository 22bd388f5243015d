/** The options and the result of a backfill. */
import type { Reprocess } from "../../schedule/backfill.ts"
import type { ByWhom } from "../actor.ts"

/** The options of a backfill: the past occurrences that get runs, and how these runs execute. */
export interface BackfillOptions extends ByWhom {
  /**
   * The tenant of the schedule.
   *
   * @default the schedule without a tenant
   */
  readonly tenant?: string
  /** Only occurrences at this time or later. */
  readonly from: Date
  /** Only occurrences before this time. It must not be later than now. */
  readonly to: Date
  /**
   * Which occurrences get a run. An occurrence whose run is unfinished never gets another.
   *
   * - `"missing"`: occurrences without a run: they were skipped, another occurrence made up for them, or they were
   * never planned before.
   * - `"failed"`: also occurrences whose last run is a dead letter or has expired, as far as the ledger knows.
   * - `"all"`: all occurrences.
   *
   * @default "missing"
   */
  readonly reprocess?: Reprocess
  /**
   * Which occurrences run first.
   *
   * @default "oldest"
   */
  readonly order?: "oldest" | "newest"
  /**
   * How many of its runs execute at the same time. A run that waits for a retry counts.
   *
   * @default 1
   */
  readonly maxParallel?: number
  /**
   * The priority of its runs.
   *
   * @default one below the priority of the schedule
   */
  readonly priority?: number
  /**
   * Makes no runs, and returns how many a backfill would make.
   *
   * @default false
   */
  readonly dryRun?: boolean
  /**
   * Allows more than 10,000 occurrences, and occurrences that are older than the ledger.
   *
   * @default false
   */
  readonly force?: boolean
  /**
   * Whether its runs share the overlap of the schedule. If they do, the runs of both wait for each other in the order
   * of their occurrences, and with `overlap: "skip"` an occurrence that comes due in this time gets no run. Has no
   * effect with `overlap: "allow"`.
   *
   * @default false
   */
  readonly shareOverlap?: boolean
}

/** The result of a backfill. */
export interface BackfillResult {
  /** How many occurrences were chosen. */
  readonly count: number
  /** How many runs this call made. Lower than `count` if another backfill made some of them. Absent for a dry run. */
  readonly runs?: number
}
