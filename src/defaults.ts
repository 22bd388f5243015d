/**
 * Every default, once. docs/reference/defaults.md is generated from this file.
 *
 * Units stand last in the names. Where an option can be given, the option's own documentation says when
 * to change it.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MIB = 1_048_576

export const DEFAULTS = {
  leaseMs: MINUTE_MS,
  renewEveryMs: 15_000,
  maxBlockLeases: 3,

  attempts: 5,
  backoffBaseMs: 10_000,
  backoffFactor: 2,
  backoffCapMs: HOUR_MS,

  timeoutMs: null,
  timeoutWarningFactor: 10,
  graceMs: 30_000,

  onLost: "retry",
  settle: "batched",
  history: "standard",
  keyLeastMs: DAY_MS,
  concurrency: null,
  overrun: "hold",
  overrunGraceMs: 30_000,
  onStuck: "report",

  pollMs: 1_000,
  idlePollMs: 5_000,
  tickMs: 1_000,

  slots: 10,
  pool: "default",
  priority: 0,

  inputBytes: MIB,
  resultBytes: MIB,
  logBytes: 256 * 1_024,

  historyShortMs: DAY_MS,
  historyMs: 7 * DAY_MS,
  historyLongMs: 90 * DAY_MS,
  firesMs: 90 * DAY_MS,
  deadLettersMs: null,
  auditMs: 365 * DAY_MS,
  statsMs: 30 * DAY_MS,

  misfire: "latest",
  overlap: "skip",
  overlapWithMisfireAll: "queue",
  maxQueued: 1_000,
  replaceGraceMs: 30_000,
  timeZone: "UTC",
  dialect: "extended",
  removedSchedules: "retire",

  growthAtLeast: 100,
  growthWithinMs: HOUR_MS,

  settleRuns: 500,
  settleDelayMs: 5,
  prefetchAgeMs: 1_000,

  schema: "carillon",
  dataDir: ".carillon",
  deadlineMs: 30_000,
  workConnections: 8,
  vitalConnections: 2,
  handlerConnections: 10,
} as const

export type DefaultName = keyof typeof DEFAULTS

/** What each default governs, in the words of the reference. */
export const DEFAULT_MEANINGS: Readonly<Record<DefaultName, string>> = {
  leaseMs: "How long a worker may be silent before its runs are given to others.",
  renewEveryMs: "How often a worker renews its lease.",
  maxBlockLeases:
    "A worker whose event loop gives no sign for this many leases, or for the longest running timeout plus grace if that is more, stops renewing.",
  attempts: "How often a run is tried before it becomes a dead letter.",
  backoffBaseMs:
    "The longest wait before the second attempt; each wait is drawn evenly between nothing and its longest.",
  backoffFactor: "By how much that wait grows with each attempt.",
  backoffCapMs: "The longest wait before any attempt.",
  timeoutMs: "How long an attempt may take.",
  timeoutWarningFactor:
    "A job without a timeout is warned about when it takes this many times its usual duration.",
  graceMs: "How long `stop()` lets handlers finish before it aborts them and gives their runs back.",
  onLost: "What becomes of a run whose worker was lost while it was running.",
  settle: "When the end of an attempt is written down: together with others, within milliseconds.",
  history: "The class of history of a job that names none.",
  keyLeastMs:
    "How long the key of a run is remembered at the least; it is for as long as history knows the run, if that is longer.",
  concurrency: "How many runs of a job are executed at once, in all processes together.",
  overrun:
    "What becomes of the place under limits of a run whose end is decided while its handler goes on: held until that returns.",
  overrunGraceMs:
    "How long a handler may go on after the end of its attempt is decided, before its slot counts as lost and its run goes on without it.",
  onStuck: "What a process does when all slots of a pool are lost to handlers that do not return.",
  pollMs: "How often a worker looks for runs when nothing wakes it.",
  idlePollMs: "The slowest that this becomes while nothing is found.",
  tickMs: "The longest that the scheduler sleeps between looks at what is due.",
  slots: "How many runs of one pool a process executes at once.",
  pool: "The pool of a job that names none.",
  priority: "The priority of a run that names none; higher goes first.",
  inputBytes: "The largest input, as JSON.",
  resultBytes: "The largest result, as JSON.",
  logBytes: "How much of an attempt's log is kept.",
  historyShortMs: "How long finished attempts are kept whose history is of the class `short`.",
  historyMs: "How long finished attempts are kept.",
  historyLongMs: "How long finished attempts are kept whose history is of the class `long`.",
  firesMs: "How long the ledger of occurrences is kept: what became of each.",
  deadLettersMs: "How long dead letters are kept: until someone replays or discards them.",
  auditMs: "How long the audit record is kept.",
  statsMs: "How long per-minute statistics are kept.",
  misfire: "What a schedule does about occurrences that came due while no scheduler was running.",
  overlap: "What a schedule does about an occurrence that comes due while an earlier run is not finished.",
  overlapWithMisfireAll: "The same, for a schedule whose misfire policy is `all`.",
  maxQueued: "With so many unfinished runs of a schedule, its next occurrences wait.",
  replaceGraceMs: "How long a run has to end that a newer occurrence of its schedule replaces.",
  timeZone: "The zone of a schedule that names none.",
  dialect: "The grammar of cron expressions.",
  removedSchedules: "What becomes of a declared schedule that is declared no more.",
  growthAtLeast: "How many new dead letters are told of (`dead-letters.growing`).",
  growthWithinMs: "Within which time so many runs have to die for that.",
  settleRuns: "How many results are written at once at the most.",
  settleDelayMs: "How long a result waits for others while the process is busy.",
  prefetchAgeMs: "How long a run may wait inside a worker for a free slot before it goes back.",
  schema: "The PostgreSQL schema that holds Carillon's tables.",
  dataDir: "The folder of the embedded server or of PGlite, relative to the working directory.",
  deadlineMs: "How long one call to the database may take, waiting for a connection included.",
  workConnections: "How many connections a process holds at the most for claims, enqueues and reads.",
  vitalConnections:
    "How many more it keeps for renewing its lease and settling, so that nothing else can starve them.",
  handlerConnections:
    "How many transactions of handlers (`ctx.transaction`) a process holds open at the most.",
}

/** Decided, and without effect until the part of Carillon that they govern is there. */
export const RESERVED_DEFAULTS: readonly DefaultName[] = ["statsMs"]
