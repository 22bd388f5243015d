/**
 * How history leaves: whole days, once their time is over.
 *
 * A day is marked, detached without waiting in anybody's way, and dropped. `detach ... concurrently` cannot be part of
 * a transaction and may be interrupted, so each step is committed by itself and the next upkeep goes on from whatever
 * state it finds. Behind a reader that does not end it gives up after a while; a settle never waits for it. (A plain
 * drop behind one open reader stops every settle until the reader ends.)
 *
 * Only the owner of the tables can do that. For a role that owns nothing a function of the owner drops the day at once,
 * and gives up after a tenth of a second behind whoever reads history (0010_roles.sql).
 *
 * The mark tells our own leftovers from what somebody detached in order to keep it: that is never dropped.
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
  /** What could not be dropped, and why: one per class, because the others of the class wait behind it. */
  readonly kept: readonly DatabaseError[]
  /** There were more than one call deals with. */
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
  /** This role may do with it what its owner may. */
  readonly owned: boolean
}

/** A detach that waits holds no lock, so this may be long: the longer, the fewer have to be completed later. */
const PATIENCE_MS = 10_000
/**
 * The other steps wait for a part of that: completing a detach keeps makers of partitions waiting, who have to be more
 * patient than it is.
 */
const SHORT_OF_IT = 0.4
/** How many partitions one call deals with. */
const MOST = 100

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
  return { dropped, kept: [...kept.values()], more: expired.length === MOST && dropped.length > 0 }
}

/**
 * Whether it was there and is gone now. The transaction holds the lock that keeps other processes away, and does
 * nothing else while the partition is detached on another connection.
 */
async function dropPartition(database: Database, name: string, patienceMs: number): Promise<boolean> {
  const { schema, abilities } = database
  const lockTimeoutMs = Math.ceil(patienceMs * SHORT_OF_IT)
  return database.transaction(async (tx) => {
    const [lock] = await tx.run(tryRetentionLock, { name: `carillon:retention:${schema}` })
    if (!lock?.taken) return false
    // Read again under the lock: another process may have been here since.
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

/** Has the owner's function drop it, which holds up settles for a tenth of a second at the most. */
export async function dropAsGuest(tx: Transaction, name: string, keepMs: number): Promise<boolean> {
  const [answer] = await tx.run(dropExpiredPartition, { name, keepMs })
  return answer?.dropped ?? false
}

/** In a transaction of its own, to be there whatever happens next. */
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
    limit: MOST,
  })
}

/** Why a partition that has expired could not be dropped. */
export function keptBy(name: string, error: DatabaseError): DatabaseError {
  return isBehindOthers(error) ? stillOpen(name, error) : error
}

/** Someone is in the way: the detach had no answer in time, or a lock could not be had. */
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
