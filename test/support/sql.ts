/** Plain SQL of tests, for a database of any engine. */
import { createHash } from "node:crypto"
import { vi } from "vitest"
import { text } from "../../src/store/codec.ts"
import type { Database, Transaction } from "../../src/store/database.ts"
import { type Statement, statement } from "../../src/store/statement.ts"
import { createGate } from "./gate-opened-by-test.ts"

export type Row = Readonly<Record<string, unknown>>

/** The rows of a query, as JSON has them: an instant is a text, a bigint has to be made one. */
export async function rowsOf(on: Pick<Transaction, "run">, query: string): Promise<Row[]> {
  const rows = await on.run(asJson(query), {})
  return rows.map(({ row }) => JSON.parse(row))
}

/** Runs statements without a result, in one transaction. */
export async function execute(database: Database, sql: string): Promise<void> {
  await database.transaction((tx) => tx.script(sql))
}

/** Prepared under a name of its own: one name stands for one text. */
function asJson(query: string): Statement<object, { row: string }> {
  return statement({
    name: `test/${createHash("sha256").update(query).digest("hex").slice(0, 32)}`,
    params: {},
    returns: { row: text },
    sql: `select pg_catalog.to_json(query)::text as row from (${query}) as query`,
  })
}

/** Polls until the query has rows: for changes on the server that have no event. */
export async function untilRows(database: Database, query: string): Promise<Row[]> {
  return vi.waitUntil(
    async () => {
      const rows = await rowsOf(database, query)
      return rows.length > 0 && rows
    },
    { timeout: 20_000, interval: 5 },
  )
}

/** Resolves when so many sessions wait for locks of others in this schema. */
export async function untilBlocked(observer: Database, sessions = 1): Promise<void> {
  const query = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and position('"${observer.schema}"' in query) > 0
    having count(*) >= ${sessions}`
  await untilRows(observer, query)
}

export interface Held {
  /** Commits. */
  readonly release: () => Promise<void>
  /** Rolls back. */
  readonly rollBack: () => Promise<void>
}

/** Opens a transaction, does `work` in it and leaves it open until it is released. */
export async function hold(
  database: Database,
  work: string | ((tx: Transaction) => Promise<unknown>),
): Promise<Held> {
  const [done, released] = [createGate(), createGate()]
  let isUndone = false
  const ended = database.transaction(async (tx) => {
    await (typeof work === "string" ? tx.script(work) : work(tx))
    done.open()
    await released.opened
    if (isUndone) throw UNDONE
  })
  await Promise.race([done.opened, ended])
  // A test that never releases it does not care how it ends.
  ended.catch(() => {})
  return {
    release: () => {
      released.open()
      return ended
    },
    rollBack: async () => {
      isUndone = true
      released.open()
      await ended.catch((error: unknown) => {
        if (error !== UNDONE) throw error
      })
    },
  }
}

const UNDONE = new Error("undone")
