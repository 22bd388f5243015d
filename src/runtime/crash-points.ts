/**
 * The places where a test may let a process die, in the order in which a run meets them.
 *
 * Each stands between two steps of which a crash must not leave one without the other.
 */
export const CRASH_POINTS = [
  /** The run is written, the caller does not know it yet. */
  "enqueue.written",
  /** Runs are claimed, no handler has started. */
  "claim.taken",
  /** The handler has ended, nothing of its result is written. */
  "attempt.ended",
  /** Results are written, nobody has been told. */
  "settle.written",
  /** A lease is marked dead, its runs have not been moved. */
  "reap.marked",
  /** A run is cancelled or marked, nobody has been told. */
  "cancel.written",
  /** Room was counted under a limit, nobody has been admitted. */
  "admit.counted",
  /** What is due was read, nothing is decided. */
  "schedule.read",
  /** What becomes of due occurrences is decided, nothing is taken. */
  "schedule.decided",
  /** Occurrences and their runs are written, nothing is committed. */
  "schedule.fired",
  /** It is committed, nobody has been told. */
  "schedule.committed",
  /** A part of a backfill is committed, the next has not begun. */
  "backfill.committed",
  /** One migration is applied, the next has not begun. */
  "migrate.applied",
] as const

/** A place where a test may let a process die. */
export type CrashPoint = (typeof CRASH_POINTS)[number]
