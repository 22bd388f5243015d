/** The error codes about schedules and cron expressions. They are a part of the table of all codes. */

export const SCHEDULE_ERRORS = {
  SCHEDULE_NEVER_FIRES: {
    means: "The schedule never fires. Carillon searched 400 years, after which the calendar repeats.",
    todo:
      "Look for a day that does not exist (30 February), an `endAt` before the first time, or dates that are all " +
      "excluded.",
    retryable: false,
  },
  SCHEDULE_CHANGED: {
    means: "Another caller changed the schedule after you read it, so your change does not fit its version.",
    todo: "Read the schedule again, compare, and repeat your change if you still want it.",
    retryable: false,
  },
  SCHEDULE_EXISTS: {
    means: "A schedule with this name already exists.",
    todo: "Choose another name, or use `put` to change the existing schedule.",
    retryable: false,
  },
  SCHEDULE_NOT_FOUND: {
    means: "No schedule has this name, or it belongs to another tenant.",
    todo: "Look at `schedules.list()`. Pass `tenant` if the schedule has one.",
    retryable: false,
  },
  SCHEDULE_DECLARED: {
    means:
      "Code declares this schedule. `put` cannot change it, because the next start would undo the change.",
    todo: "Change the code. `pause`, `resume`, `runNow` and `skipNext` work, and survive a restart.",
    retryable: false,
  },
  SCHEDULE_STATE: {
    means: "The state of the schedule does not allow this call.",
    todo: "Read the message: it names the state and the calls that are possible.",
    retryable: false,
  },
  SCHEDULE_BEHIND: {
    means:
      "The schedule has misfire `all` and too many missed occurrences to catch up with. It cannot be changed now.",
    todo: "Wait until it has caught up, or cancel it and create another.",
    retryable: true,
  },
  BACKFILL_TOO_LARGE: {
    means: "The backfill covers more occurrences than Carillon makes without `force`.",
    todo: "Choose a shorter period, or pass `force: true`.",
    retryable: false,
  },
  BACKFILL_UNKNOWN: {
    means:
      "The backfill reaches back beyond the ledger, so Carillon cannot tell which of its occurrences had a run.",
    todo: 'Begin later, or pass `reprocess: "all"` or `force: true` to run the unknown occurrences again.',
    retryable: false,
  },
  ZONE_DATA_OUTDATED: {
    means:
      "The schedule uses a time zone, and this process has older time zone data than another process on the same " +
      "database.",
    todo:
      "Update Node in this process (`process.versions.tz` shows its version), or make the change from an " +
      "up-to-date process.",
    retryable: false,
  },
  TIME_ZONE_UNKNOWN: {
    means: "This Node does not know the time zone.",
    todo: "Use an IANA name such as `Europe/Oslo`. An offset such as `+02:00` is not a name.",
    retryable: false,
  },
  CRON_SYNTAX: {
    means: "A cron expression contains a syntax error.",
    todo: "Look at `position` and `hint`.",
    retryable: false,
  },
  CRON_FIELDS: {
    means: "A cron expression has too few or too many fields.",
    todo: "Write five fields; in the extended dialect also six (seconds first) or seven (seconds first, year last).",
    retryable: false,
  },
  CRON_RANGE: {
    means: "A value of a cron expression is out of range, or a range runs backwards.",
    todo: "Look at `position` and `hint`. Write a range over midnight as two, as in `22-23,0-2`.",
    retryable: false,
  },
  CRON_STEP: {
    means: "A step of a cron expression is zero or wider than its field.",
    todo: 'Use a smaller step, or an interval: `every: "90m"`.',
    retryable: false,
  },
  CRON_DIALECT: {
    means: "A cron expression uses syntax that its dialect lacks.",
    todo: "Choose a wider dialect, or rewrite the expression as `hint` says.",
    retryable: false,
  },
  CRON_TOO_LONG: {
    means: "A cron expression has more than 1,000 characters.",
    todo: "Use ranges and steps instead of lists, or several schedules.",
    retryable: false,
  },
  CRON_UNSUPPORTED: {
    means: "A cron expression uses a nickname that is not a schedule, such as `@reboot`.",
    todo: "Look at `hint`.",
    retryable: false,
  },
} as const
