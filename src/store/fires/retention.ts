/**
 * How the ledger of occurrences leaves: whole months, once everything in them has been kept for long enough.
 *
 * Why that is safe: an occurrence is kept from a second run by the cursor of its schedule, which only moves forward and
 * below which nothing is decided again. What the ledger says about occurrences up to the cursor is there to be looked at,
 * and for backfills, which are told where it ends. What it says beyond a cursor stays as long as the schedule may decide.
 *
 * A month leaves as a day of history does: marked, detached without waiting in anybody's way, dropped, each step committed
 * by itself. Unlike history it may be written to at any time, by a backfill of years ago: once it is detached, when
 * nobody can write to it any more, it is looked through again, and comes back if something new is in it.
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
/** As with history: makers of partitions have to be more patient than whoever completes a detach. */
const SHORT_OF_IT = 0.4
/** How many months one call drops. */
const MOST = 100
const keepMs = DEFAULTS.firesMs

interface ExpiredMonth {
  readonly name: string
  readonly month: InstantMs
  readonly state: string
  /** This role may do with it what its owner may. */
  readonly owned: boolean
}

/** Drops the months whose newest row is older than the ledger is kept, and that guard nothing. */
export async function dropExpiredMonths(
  database: Database,
  { patienceMs = PATIENCE_MS }: RetentionOptions = {},
): Promise<Retention> {
  const dropped: string[] = []
  for (const { name } of await listExpired(database, database.schema)) {
    if (dropped.length === MOST) return { dropped, kept: [], more: true }
    try {
      if (await dropMonth(database, name, patienceMs)) dropped.push(name)
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      // PostgreSQL detaches one partition of a table at a time: the others wait behind this one.
      return { dropped, kept: [keptBy(name, error)], more: false }
    }
  }
  return { dropped, kept: [], more: false }
}

/** Whether it was there and is gone now. The transaction holds the lock that keeps other processes from dropping. */
async function dropMonth(database: Database, name: string, patienceMs: number): Promise<boolean> {
  const { schema, abilities } = database
  const lockTimeoutMs = Math.ceil(patienceMs * SHORT_OF_IT)
  return database.transaction(async (tx) => {
    const [lock] = await tx.run(tryRetentionLock, { name: `carillon:retention:${schema}` })
    if (!lock?.taken) return false
    const expired = await findExpired(tx, schema, name)
    if (!expired) return false
    if (!expired.owned) return dropAsGuest(tx, name, keepMs)
    if (expired.state === "attached" && abilities.connections) {
      // Asked on another connection: whoever has read the month is waited for by the detach.
      if (await isNeeded(database, name)) return false
      await markExpired(database, name, lockTimeoutMs)
      await database.run(detachPartition({ table: "fires", name }), {}, { deadlineMs: patienceMs })
    }
    await tx.script(`set local lock_timeout = ${lockTimeoutMs}`)
    await lockMonths(tx, schema)
    return dropOrBringBack(tx, schema, name, !abilities.connections)
  })
}

/** Under the lock of all who make and attach months: nobody can write to a month that is not attached. */
async function dropOrBringBack(
  tx: Transaction,
  schema: string,
  name: string,
  isAlone: boolean,
): Promise<boolean> {
  const month = await findExpired(tx, schema, name)
  // Somebody had something to write in it, and has brought it back.
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
