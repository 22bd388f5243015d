/**
 * Drops history by whole days, once a day is older than its class is kept.
 *
 * Steps: mark the day, detach it concurrently, drop it. `detach ... concurrently` cannot run inside a transaction and
 * may be interrupted. Each step therefore commits by itself, and the next upkeep continues from the state it finds.
 * Behind a reader that does not end, the detach gives up after a while, and a settle never waits for it. (A plain drop
 * behind one open reader stops every settle until the reader ends.)
 *
 * Roles: only the owner of the tables can detach. For any other role a function of the owner, `drop_expired`, drops the
 * day at once, and gives up after a tenth of a second behind a reader of history.
 *
 * Mark: it distinguishes days that an upkeep left behind from partitions that a person detached in order to keep them.
 * Upkeep never drops those.
 */
import { DatabaseError } from "../../errors.ts"
import type { Database, Transaction } from "../database.ts"
import { detachPartition } from "./detach-partition.ts"
import { dropExpiredPartition } from "./drop-expired.ts"
import { HISTORY_CLASSES, type HistoryClass } from "./history-classes.ts"
import { listExpiredPartitions } from "./list-expired-partitions.ts"
import { tryRetentionLock } from "./try-retention-lock.ts"

export interface Retention {
  readonly dropped: readonly string[]
  /** What could not be dropped, and why: one error per class, because the other days of the class wait behind it. */
  readonly kept: readonly DatabaseError[]
  /** More partitions have expired than one call handles. */
  readonly more: boolean
}

export interface RetentionOptions {
  /** How long to wait for transactions that may still read a partition. @default 10 s */
  readonly patienceMs?: number
}

interface Expired {
  readonly name: string
  readonly history: string
  readonly state: string
  /** The role may do with the partition what its owner may. */
  readonly owned: boolean
}

/**
 * A waiting detach holds no lock, so this may be long. The longer it is, the fewer detaches have to be completed later.
 */
const PATIENCE_MS = 10_000
/**
 * The other steps wait for a part of it. While a detach is completed, processes that make partitions wait, and their
 * timeout must be longer.
 */
const LOCK_SHARE = 0.4
/** The number of partitions that one call handles. */
const MOST_PARTITIONS = 100

/** Drops the partitions whose newest row is older than its class is kept. */
export async function dropExpired(database: Database, options: RetentionOptions = {}): Promise<Retention> {
  const { patienceMs = PATIENCE_MS } = options
  const expired = await listExpired(database, database.schema)
  const dropped: string[] = []
  const kept = new Map<string, DatabaseError>()
  for (const { name, history } of expired) {
    // PostgreSQL detaches one partition of a table at a time.
    if (kept.has(history)) continue
    try {
      if (await dropPartition(database, name, patienceMs)) dropped.push(name)
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      kept.set(history, keptBy(name, error))
    }
  }
  return { dropped, kept: [...kept.values()], more: expired.length === MOST_PARTITIONS && dropped.length > 0 }
}

/**
 * Drops one partition. Returns whether it was there and is gone now. The transaction holds the lock that keeps other
 * processes away, and does nothing else while another connection detaches the partition.
 */
async function dropPartition(database: Database, name: string, patienceMs: number): Promise<boolean> {
  const { schema, abilities } = database
  const lockTimeoutMs = Math.ceil(patienceMs * LOCK_SHARE)
  return database.transaction(async (tx) => {
    const [lock] = await tx.run(tryRetentionLock, { name: `carillon:retention:${schema}` })
    if (!lock?.taken) return false
    // Read again under the lock: another process may have dropped it since.
    const expired = (await listExpired(tx, schema)).find((partition) => partition.name === name)
    if (!expired) return false
    const { table, keepMs } = HISTORY_CLASSES[expired.history as HistoryClass]
    if (!expired.owned) return dropAsGuest(tx, name, keepMs)
    if (expired.state === "attached" && abilities.connections) {
      await markExpired(database, name, lockTimeoutMs)
      await database.run(detachPartition({ table, name }), {}, { deadlineMs: patienceMs })
    }
    await tx.script(`
      set local lock_timeout = ${lockTimeoutMs};
      ${expired.state === "detaching" ? `alter table {${table}} detach partition {${name}} finalize;` : ""}
      drop table {${name}};
    `)
    return true
  })
}

/** Has the owner's function drop the partition, which delays settles by at most a tenth of a second. */
export async function dropAsGuest(tx: Transaction, name: string, keepMs: number): Promise<boolean> {
  const [answer] = await tx.run(dropExpiredPartition, { name, keepMs })
  return answer?.dropped ?? false
}

/** Commits by itself, so that the mark stays if a later statement fails. */
export async function markExpired(database: Database, name: string, lockTimeoutMs: number): Promise<void> {
  const script = `
    set local lock_timeout = ${lockTimeoutMs};
    comment on table {${name}} is 'carillon: expired';
  `
  await database.transaction((tx) => tx.script(script))
}

async function listExpired(on: Pick<Transaction, "run">, schema: string): Promise<Expired[]> {
  return on.run(listExpiredPartitions, {
    schema,
    shortMs: HISTORY_CLASSES.short.keepMs,
    standardMs: HISTORY_CLASSES.standard.keepMs,
    longMs: HISTORY_CLASSES.long.keepMs,
    limit: MOST_PARTITIONS,
  })
}

/** The error that says why an expired partition could not be dropped. */
export function keptBy(name: string, error: DatabaseError): DatabaseError {
  return isBehindOthers(error) ? stillOpen(name, error) : error
}

/** Is another transaction in the way? The detach had no answer in time, or a lock was not available. */
function isBehindOthers(error: DatabaseError): boolean {
  return error.code === "DATABASE_DEADLINE" || error.code === "DATABASE_BUSY"
}

function stillOpen(name: string, cause: DatabaseError): DatabaseError {
  return new DatabaseError(
    "DATABASE_BUSY",
    `${name} has expired and stays until the next upkeep, because transactions that may read it are still open. ` +
      "If it stays for long, look for long transactions in pg_stat_activity.",
    { cause, statement: cause.statement, sqlState: cause.sqlState },
  )
}
