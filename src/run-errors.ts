/** The error codes of runs: what they ended with, and why a call about them is refused. */

export const RUN_ERRORS = {
  RUN_NOT_FOUND: {
    means: "No run with this id is waiting, running or in history.",
    todo:
      "Check the id, the database and the schema. A run that was enqueued in a transaction is visible after the " +
      "transaction commits.",
    retryable: false,
  },
  RUN_NOT_ENDED: {
    means: "A run has not ended: at the deadline of `runs.wait`, or when it should be rerun. It goes on.",
    todo: "Wait for it, read with `runs.get` what it does, or make another run from it with `runs.clone`.",
    retryable: true,
  },
  RUN_RUNNING: {
    means: "The run is running, so nothing of it can be changed.",
    todo: "Wait until it has ended, or cancel it. `runs.clone` makes a changed run from it at any time.",
    retryable: true,
  },
  RUN_ENDED: {
    means: "The run has ended, so nothing of it can be changed.",
    todo:
      "Use `runs.rerun` to run it once more, `runs.clone` to run it with changes, or `deadLetters.replay` for a dead " +
      "run.",
    retryable: false,
  },
  RUN_HELD: {
    means: "The pause of its schedule holds the run, so it cannot be delayed.",
    todo: "Resume the schedule, or cancel the run.",
    retryable: false,
  },
  RUN_SCHEDULED: {
    means: "A schedule made the run, and a rerun would have no occurrence.",
    todo:
      "Use `schedules.backfill` with `reprocess` for the same occurrence, `schedules.runNow` for a run by hand, or " +
      "`runs.clone` for a run without the schedule.",
    retryable: false,
  },
  RUN_DEAD: {
    means: "The run used up its attempts or failed for good, so it has no result.",
    todo: "Read `cause` for the last error and fix it. The run stays as a dead letter, so it can be replayed.",
    retryable: false,
  },
  RUN_CANCELLED: {
    means: "Its own handler or an operator cancelled the run, so it has no result.",
    todo: "Read the message or the audit record: they name the actor and the reason.",
    retryable: false,
  },
  RUN_REPLACED: {
    means: "A newer occurrence of the schedule replaces the run. The new run starts when this one has ended.",
    todo: "End the handler when `ctx.signal` aborts. After `replaceGrace`, the run continues without it.",
    retryable: false,
  },
  RUN_EXPIRED: {
    means: "No worker started the run within its `startWithin`. It will not start any more.",
    todo: "Add workers or slots, or raise `startWithin`.",
    retryable: false,
  },
  RUN_BURIED: {
    means: "The handler ended its run for good with `Bury`.",
    todo: "Read the message. The run stays as a dead letter.",
    retryable: false,
  },
} as const
