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
    means: "The runs that `runs.wait` waits for had not all ended at its deadline. They go on.",
    todo: "Wait again, or read with `runs.get` what a run does.",
    retryable: true,
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
