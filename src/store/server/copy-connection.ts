/**
 * Runs one transaction on a connection of its own, for moving whole tables.
 *
 * It is not from a pool, because it may take hours without a deadline, and because the driver copies only on
 * connections that do not pipeline. Everything is one transaction, so it works behind a pooler as well.
 */
import pg from "pg"
import { CarillonError, DatabaseError } from "../../errors.ts"
import { nodePostgres } from "../borrowed/callers-client.ts"
import { runnerOn } from "../borrowed/transaction.ts"
import { sqlStateOf, translateError } from "../database-error.ts"
import { resolveNames } from "../statement.ts"
import {
  COPY_SETTINGS,
  type CopyOptions,
  type CopyTransaction,
  columnList,
  inSchema,
} from "../transfer/copy-transaction.ts"
import { assertEncoding } from "./connection.ts"
import { copyIn, copyOut } from "./copy.ts"

export interface CopyConnectionOptions extends CopyOptions {
  readonly url: string
  readonly schema: string
}

const DIAL_MS = 10_000
const KEEP_ALIVE_MS = 10_000

/** Commits what `body` did, or nothing. */
export async function inCopyTransaction<T>(
  options: CopyConnectionOptions,
  body: (tx: CopyTransaction) => Promise<T>,
): Promise<T> {
  const { schema, mode, signal } = options
  const client = new pg.Client({
    connectionString: options.url,
    application_name: "carillon",
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: DIAL_MS,
  })
  // Without a listener the driver's error event would end the process. The commands in flight report the error.
  client.on("error", () => {})
  const end = () => void client.connection.stream.destroy()
  signal?.addEventListener("abort", end, { once: true })
  try {
    signal?.throwIfAborted()
    await dial(client)
    const tx = transactionOn(client, schema)
    const { rows } = await client.query("select pg_catalog.getdatabaseencoding() as encoding")
    assertEncoding(rows[0]["encoding"])
    await tx.script(`begin ${mode};${COPY_SETTINGS}`)
    const result = await body(tx)
    signal?.throwIfAborted()
    await tx.script("commit")
    await client.end().catch(() => {})
    return result
  } finally {
    signal?.removeEventListener("abort", end)
    // However it ended: without a commit the server rolls back, even if it receives no further message.
    end()
  }
}

async function dial(client: pg.Client): Promise<void> {
  try {
    await client.connect()
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseError("DATABASE_UNAVAILABLE", `The database cannot be reached: ${detail}`, {
      cause,
      sqlState: sqlStateOf(cause),
    })
  }
}

function transactionOn(client: pg.Client, schema: string): CopyTransaction {
  return {
    run: runnerOn(nodePostgres(client), schema).run,
    script: async (sql) => {
      await client.query(resolveNames(sql, schema)).catch((error: unknown) => {
        throw translateError(error, "script")
      })
    },
    copyOut: async function* ({ name, columns }) {
      const sql = `copy (select ${columnList(columns)} from ${inSchema(name)}) to stdout (format text)`
      try {
        yield* copyOut(client, resolveNames(sql, schema))
      } catch (error) {
        throw asDatabaseError(error)
      }
    },
    copyIn: ({ name, columns }, source) => {
      const sql = `copy ${inSchema(name)} (${columnList(columns)}) from stdin (format text)`
      return copyIn(client, resolveNames(sql, schema), source).catch((error: unknown) => {
        throw asDatabaseError(error)
      })
    },
  }
}

/** An error of Carillon's came from the other end of the stream and stays as it is. */
function asDatabaseError(error: unknown): CarillonError {
  return error instanceof CarillonError ? error : translateError(error, "copy")
}
