/**
 * Every default value, in one place. docs/reference/defaults.md is generated from this file.
 *
 * Names end in their unit. The documentation of an option says when to change it.
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
  statsHoursMs: 365 * DAY_MS,
  tenantStatsMs: 2 * DAY_MS,
  tenantStatsHoursMs: 30 * DAY_MS,

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

  httpHost: "127.0.0.1",
  httpPort: 7_117,
} as const

export type DefaultName = keyof typeof DEFAULTS

/** What each default sets. The generated reference uses these texts. */
export const DEFAULT_MEANINGS: Readonly<Record<DefaultName, string>> = {
  leaseMs: "The lease of a worker. A worker that does not renew it in time loses its runs to other workers.",
  renewEveryMs: "How often a worker renews its lease.",
  maxBlockLeases:
    "A worker stops renewing its lease when its event loop is blocked for this many leases, " +
    "or for the longest timeout among its running attempts plus grace, whichever is longer.",
  attempts: "The number of attempts before a run becomes a dead letter.",
  backoffBaseMs:
    "The upper bound of the wait before the second attempt. Each wait is random, between zero and its upper bound.",
  backoffFactor: "The factor by which the upper bound grows with each attempt.",
  backoffCapMs: "The upper bound of every wait.",
  timeoutMs: "The time limit of one attempt.",
  timeoutWarningFactor:
    "Carillon warns about a job without a timeout when an attempt takes this many times its usual duration.",
  graceMs: "How long `stop()` waits for handlers. Then it aborts them and returns their runs to the queue.",
  onLost: "What happens to a running run when its worker is lost.",
  settle: "When a worker writes the end of an attempt: in a batch with others, within milliseconds.",
  history: "The history class of a job that sets none.",
  keyLeastMs:
    "The least time for which the key of a run stays taken. It stays taken longer if history keeps the run longer.",
  concurrency: "How many runs of a job execute at once, in all processes together.",
  overrun:
    "What happens to a run's place under its limits when its handler goes on after the attempt has ended: " +
    "the run holds the place until the handler returns.",
  overrunGraceMs:
    "How long a handler may go on after its attempt has ended. " +
    "Then its slot counts as lost and the run continues without it.",
  onStuck: "What a process does when every slot of a pool is lost to a handler that does not return.",
  pollMs: "How often a worker looks for runs when no notification arrives.",
  idlePollMs: "The slowest poll of a worker that finds nothing.",
  tickMs: "The longest sleep of the scheduler between two checks for due occurrences.",
  slots: "How many runs of one pool a process executes at once.",
  pool: "The pool of a job that sets none.",
  priority: "The priority of a run that sets none. Higher priorities go first.",
  inputBytes: "The largest input, as JSON.",
  resultBytes: "The largest result, as JSON.",
  logBytes: "How much of an attempt's log Carillon keeps.",
  historyShortMs: "How long finished attempts of history class `short` stay.",
  historyMs: "How long finished attempts of history class `standard` stay.",
  historyLongMs: "How long finished attempts of history class `long` stay.",
  firesMs: "How long the ledger of occurrences stays.",
  deadLettersMs: "How long dead letters stay: until an operator replays or discards them.",
  auditMs: "How long the audit record stays.",
  statsMs: "How long statistics by the minute stay.",
  statsHoursMs: "How long statistics by the hour stay.",
  tenantStatsMs: "How long statistics of each tenant by the minute stay.",
  tenantStatsHoursMs: "How long statistics of each tenant by the hour stay.",
  misfire: "What a schedule does with occurrences that came due while no scheduler was running.",
  overlap: "What a schedule does with an occurrence that comes due while an earlier run is unfinished.",
  overlapWithMisfireAll: "The same, for a schedule with misfire policy `all`.",
  maxQueued: "A schedule with this many unfinished runs makes no new ones until some of them end.",
  replaceGraceMs: "How long a run has to end when a newer occurrence replaces it.",
  timeZone: "The time zone of a schedule that sets none.",
  dialect: "The grammar of cron expressions.",
  removedSchedules: "What happens to a stored schedule that the code no longer declares.",
  growthAtLeast: "How many new dead letters raise the event `dead-letters.growing`.",
  growthWithinMs: "The period in which that many runs must die to raise it.",
  settleRuns: "The most results that one statement writes.",
  settleDelayMs: "How long a result waits for others while the process is busy.",
  prefetchAgeMs: "How long a claimed run may wait for a free slot before the worker returns it.",
  schema: "The PostgreSQL schema with Carillon's tables.",
  dataDir: "The data folder of the embedded server or of PGlite, relative to the working directory.",
  deadlineMs: "The time limit of one database call, including the wait for a connection.",
  workConnections: "The most connections a process opens for claims, enqueues and reads.",
  vitalConnections:
    "The connections reserved for lease renewals and settles, so that other work cannot starve them.",
  handlerConnections: "The most handler transactions (`ctx.transaction`) that a process holds open.",
  httpHost: "The address that the HTTP server listens on.",
  httpPort: "The port that it listens on.",
}
