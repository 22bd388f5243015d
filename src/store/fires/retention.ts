/**
 * Drops the ledger of occurrences by whole months, once every row in them has been kept for long enough.
 *
 * Why it is safe: the cursor of a schedule, which only moves forward, keeps an occurrence from a second run. Nothing at
 * or below the cursor is decided again. Rows up to the cursor serve look-ups and backfills, and a backfill is told
 * where the ledger ends. Rows after a cursor stay as long as the schedule may still decide.
 *
 * Steps: mark the month, detach it concurrently, drop it, each committed by itself, as with days of history. Unlike
 * history, an old month may still be written to, by a backfill of years ago. Once it is detached and can no longer be
 * written to, it is checked again, and attached again if it holds new rows.
 */
import { DEFAULTS } from "../../defaults.ts"
import { DatabaseError } from "../../errors.ts"
import type { InstantMs } from "../../time/instant.ts"
import { detachPartition } from "../attempts/detach-partition.ts"
import {
  dropAsGuest,
  keptBy,
  markExpired,
  type Retention,
  type RetentionOptions,
} from "../attempts/retention.ts"
import { tryRetentionLock } from "../attempts/try-retention-lock.ts"
import type { Database, Runner, Transaction } from "../database.ts"
import { isMonthNeeded } from "./is-needed.ts"
import { listExpiredMonths } from "./list-expired-partitions.ts"
import { makeMonths } from "./make-months.ts"
import { lockMonths } from "./partitions.ts"

const PATIENCE_MS = 10_000
/** As with history: processes that make partitions need a longer timeout than the one that completes a detach. */
const LOCK_SHARE = 0.4
/** The number of months that one call drops. */
const MOST_PARTITIONS = 100
const keepMs = DEFAULTS.firesMs

interface ExpiredMonth {
  readonly name: string
  readonly month: InstantMs
  readonly state: string
  /** The role may do with the month what its owner may. */
  readonly owned: boolean
}

/** Drops the months whose newest row is older than the ledger is kept, and that protect no occurrence. */
export async function dropExpiredMonths(
  database: Database,
  { patienceMs = PATIENCE_MS }: RetentionOptions = {},
): Promise<Retention> {
  const dropped: string[] = []
  for (const { name } of await listExpired(database, database.schema)) {
    if (dropped.length === MOST_PARTITIONS) return { dropped, kept: [], more: true }
    try {
      if (await dropMonth(database, name, patienceMs)) dropped.push(name)
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      // PostgreSQL detaches one partition of a table at a time, so the other months wait behind this one.
      return { dropped, kept: [keptBy(name, error)], more: false }
    }
  }
  return { dropped, kept: [], more: false }
}

/**
 * Drops one month. Returns whether it was there and is gone now. The transaction holds the lock that keeps other
 * processes from dropping.
 */
async function dropMonth(database: Database, name: string, patienceMs: number): Promise<boolean> {
  const { schema, abilities } = database
  const lockTimeoutMs = Math.ceil(patienceMs * LOCK_SHARE)
  return database.transaction(async (tx) => {
    const [lock] = await tx.run(tryRetentionLock, { name: `carillon:retention:${schema}` })
    if (!lock?.taken) return false
    const expired = await findExpired(tx, schema, name)
    if (!expired) return false
    if (!expired.owned) return dropAsGuest(tx, name, keepMs)
    if (expired.state === "attached" && abilities.connections) {
      // Asked on another connection, because the detach waits for every transaction that has read the month.
      if (await isNeeded(database, name)) return false
      await markExpired(database, name, lockTimeoutMs)
      await database.run(detachPartition({ table: "fires", name }), {}, { deadlineMs: patienceMs })
    }
    await tx.script(`set local lock_timeout = ${lockTimeoutMs}`)
    await lockMonths(tx, schema)
    return dropOrBringBack(tx, schema, name, !abilities.connections)
  })
}

/**
 * Runs under the lock of all processes that make and attach months, so a month that is not attached cannot be written
 * to.
 */
async function dropOrBringBack(
  tx: Transaction,
  schema: string,
  name: string,
  isAlone: boolean,
): Promise<boolean> {
  const month = await findExpired(tx, schema, name)
  // A writer needed the month and has attached it again.
  if (!month || (month.state === "attached" && !isAlone)) return false
  if (await isNeeded(tx, name)) {
    if (month.state !== "attached") await tx.run(makeMonths, { months: [month.month] })
    return false
  }
  const finalize = `alter table {fires} detach partition {${name}} finalize;`
  await tx.script(`${month.state === "detaching" ? finalize : ""} drop table {${name}};`)
  return true
}

async function isNeeded(on: Runner, name: string): Promise<boolean> {
  const [answer] = await on.run(isMonthNeeded(name), { keepMs })
  return answer?.needed ?? true
}

async function findExpired(on: Runner, schema: string, name: string): Promise<ExpiredMonth | undefined> {
  return (await listExpired(on, schema)).find((month) => month.name === name)
}

async function listExpired(on: Runner, schema: string): Promise<ExpiredMonth[]> {
  return on.run(listExpiredMonths, { schema, keepMs })
}
