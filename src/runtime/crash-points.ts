/**
 * The places where a test may let a process die, in the order in which a run meets them.
 *
 * Each lies between two steps. A crash there must not leave the first step without the second.
 */
export const CRASH_POINTS = [
  /** The run is written. The caller does not know yet. */
  "enqueue.written",
  /** Runs are claimed. No handler has started. */
  "claim.taken",
  /** The handler has ended. Its result is not written. */
  "attempt.ended",
  /** Results are written. No listener has been told. */
  "settle.written",
  /** A lease is marked dead. Its runs have not been taken back. */
  "reap.marked",
  /** A run is cancelled or marked. No listener has been told. */
  "cancel.written",
  /** A pause is written, or removed. No process has been told. */
  "pause.written",
  /** Overrides of a job are written, or removed. No process has been told. */
  "override.written",
  /** Room under a limit was counted. No run has been admitted. */
  "admit.counted",
  /** The due schedules were read. Nothing is decided. */
  "schedule.read",
  /** The occurrences are decided. No schedule has been taken. */
  "schedule.decided",
  /** Occurrences and their runs are written. Nothing is committed. */
  "schedule.fired",
  /** They are committed. No listener has been told. */
  "schedule.committed",
  /** One part of a backfill is committed. The next has not begun. */
  "backfill.committed",
  /** A batch of dead letters is replayed. The next has not begun. */
  "replay.committed",
  /** A batch of dead letters is discarded. The next has not begun. */
  "discard.committed",
  /** A bulk operation is taken for a batch. Nothing is changed. */
  "bulk.taken",
  /** The runs of a batch are changed. The operation does not say so. */
  "bulk.applied",
  /** The operation says so. Nothing is committed. */
  "bulk.noted",
  /** The batch is committed. No listener has been told. */
  "bulk.committed",
  /** One migration is applied. The next has not begun. */
  "migrate.applied",
] as const

/** A place where a test may let a process die. */
export type CrashPoint = (typeof CRASH_POINTS)[number]
