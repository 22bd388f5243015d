/**
 * One connection to a PostgreSQL server. It sends commands in one write, keeps deadlines, and closes when one is
 * missed.
 */
import { Socket } from "node:net"
import pg from "pg"
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { QueryResult } from "../../job/context.ts"
import type { Host } from "../../runtime/host.ts"
import { deadlineError, translateError } from "../database-error.ts"
import { UNHURRIED } from "../session.ts"
import { type FixedPlan, openingFor } from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import { type KnownColumns, sendPrepared } from "./prepared-query.ts"

export interface Connection {
  /**
   * No pooler is between this process and the server. Behind a pooler, named statements, LISTEN and session settings
   * would apply to an arbitrary server connection.
   */
  readonly direct: boolean
  /** The plan settings in force for every statement. Undefined if the settings of the session are unknown. */
  readonly plan: FixedPlan | undefined
  /** In PostgreSQL's form: 180004 is 18.4. */
  readonly version: number
  readonly usable: () => boolean
  /**
   * Writes all commands at once and waits for all answers, in one round trip. Throws the first error; the commands
   * after it were sent as well, and do nothing inside a failed transaction. Sends nothing if the connection is not
   * usable.
   */
  readonly send: (commands: readonly Command[], deadlineAtMs: number) => Promise<Answer[]>
  /** Puts everything that `send` sends into one write, because each write wakes the server. */
  readonly inOneWrite: <T>(send: () => T) => T
  /** Sends one statement of the user's, with values as the driver takes and returns them. */
  readonly query: (text: string, values: readonly unknown[], deadlineAtMs: number) => Promise<QueryResult>
  /** Did the last answer come from outside a transaction? */
  readonly isOutside: () => boolean
  readonly onNotification: (handler: (channel: string, payload: string) => void) => void
  /** Calls the handler once when the connection is gone, for any reason. */
  readonly onEnd: (handler: () => void) => void
  /** Closes the session with a message to the server, and cuts the connection if the server does not answer. */
  readonly close: () => Promise<void>
  readonly destroy: () => void
}

/** Every value stays the text that the server sent, and the statement decodes it. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig

const KEEP_ALIVE_MS = 10_000

/** The server has ended the session, or has lost its prepared statements. */
const SPENT = /^(08|57P|25P0[34]|26000|42P05)/

/** How instants are written. Sent first, before the connection is known to be direct: poolers track both settings. */
const SESSION = "set datestyle = 'ISO, YMD'; set timezone = 'UTC'"

/**
 * Lets the server notice that a client has given up. Otherwise a statement that waits for a lock would keep its place
 * in the queue, and its connection, until it gets the lock. Servers on some platforms refuse the setting.
 */
const NOTICE_ABSENCE = "set client_connection_check_interval = 1000"

/** The backend's process id, the server's version, and the encoding of the database. */
const WHO =
  UNHURRIED +
  "select pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_version_num'), " +
  "pg_catalog.getdatabaseencoding()"

export interface Dial {
  readonly url: string
  readonly deadlineAtMs: number
  /**
   * All statements on the connection will be Carillon's. The plan settings to put in force, if the connection is
   * direct.
   */
  readonly plan?: FixedPlan
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal
}

/** Opens a connection before the deadline, or throws. Nothing was sent then that could have an effect. */
export async function connect(host: Host, dial: Dial): Promise<Connection> {
  const { url, deadlineAtMs, plan, signal } = dial
  signal.throwIfAborted()
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    application_name: "carillon",
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline: true,
    stream: () => socket,
    types: AS_TEXT,
  })
  // Without a listener the driver's error event would end the process. The queries in flight report the error.
  client.on("error", () => {})
  let isLate = false
  const timer = host.after(deadlineAtMs - host.monotonicMs(), () => {
    isLate = true
    socket.destroy()
  })
  const giveUp = () => socket.destroy(new Error("closed while connecting"))
  signal.addEventListener("abort", giveUp, { once: true })
  try {
    await client.connect()
    const [, who] = await Promise.all([client.query(SESSION), client.query({ text: WHO, rowMode: "array" })])
    const [pid, versionNumber, encoding = ""] = lastOf(who)?.rows[0] ?? []
    const version = Number(versionNumber)
    assertEncoding(encoding)
    // A pooler invents the process id of the session. Only the server itself knows the true one.
    const direct = pid === String(processId(client))
    if (!direct) return wrap(host, { client, socket, direct, plan: undefined, version })
    // The plan settings go first: with `exit_on_error` a refusal of the other setting would end the session.
    const opening = [openingFor(plan, version), NOTICE_ABSENCE].map((text) => client.query(text))
    await Promise.all([opening[0], opening[1]?.catch(() => {})])
    return wrap(host, { client, socket, direct, plan, version })
  } catch (error) {
    socket.destroy()
    // The driver would only say that the connection ended, which it did because of the timeout.
    throw isLate ? new Error("no answer from the server in time", { cause: error }) : error
  } finally {
    timer.cancel()
    signal.removeEventListener("abort", giveUp)
  }
}

/** The driver answers a text of several statements with a result for each. */
function lastOf(answers: unknown): pg.QueryArrayResult<string[]> | undefined {
  return (answers as pg.QueryArrayResult<string[]>[]).at(-1)
}

/** Other encodings lack characters that any input or error message may contain. */
export function assertEncoding(encoding: string): void {
  if (encoding === "UTF8") return
  throw new CarillonError(
    "DATABASE_ENCODING",
    `The encoding of the database is ${encoding}, in which Carillon could not keep every text. Use another database ` +
      "on the same server: `create database NAME encoding 'UTF8' template template0`.",
  )
}

function processId(client: pg.Client): number | null {
  return (client as unknown as { processID: number | null }).processID
}

/** The status that the server sends with every answer: idle, in a transaction, or in a failed one. */
function transactionStatus(client: pg.Client): string | null {
  return client.getTransactionStatus()
}

interface Wrapped {
  readonly client: pg.Client
  readonly socket: Socket
  readonly direct: boolean
  readonly plan: FixedPlan | undefined
  readonly version: number
}

function wrap(host: Host, { client, socket, direct, plan, version }: Wrapped): Connection {
  let usable = true
  const columns: KnownColumns = new Map()
  socket.once("close", () => {
    usable = false
  })
  const destroy = () => {
    usable = false
    socket.destroy()
  }
  // The server's last message comes before the end of the stream. Nothing may be sent in between.
  client.on("error", destroy)

  /** Waits for all answers, at most until the deadline. A missed deadline closes the connection. */
  async function answered<T>(
    queries: readonly Promise<T>[],
    labels: readonly string[],
    deadlineAtMs: number,
  ): Promise<T[]> {
    let late = false
    const timer = host.after(deadlineAtMs - host.monotonicMs(), () => {
      late = true
      destroy()
    })
    const results = await Promise.allSettled(queries)
    timer.cancel()
    return results.map((result, index) => {
      const label = labels[index] ?? "?"
      if (result.status === "fulfilled") return result.value
      if (late) throw deadlineError(label, result.reason)
      const error = translateError(result.reason, label)
      if (SPENT.test(error.sqlState ?? "")) destroy()
      throw error
    })
  }

  function inOneWrite<T>(write: () => T): T {
    socket.cork()
    try {
      return write()
    } finally {
      socket.uncork()
    }
  }

  async function send(commands: readonly Command[], deadlineAtMs: number): Promise<Answer[]> {
    if (!usable) throw unsent(commands)
    const answers = inOneWrite(() => commands.map(ask))
    const labels = commands.map(({ label }) => label)
    return answered(answers, labels, deadlineAtMs)
  }

  function ask({ label, text, values = [], prepare = false }: Command): Promise<Answer> {
    if (prepare && direct) return sendPrepared(client, { name: label, text, values }, columns)
    return client.query({ text, rowMode: "array", values: [...values] }).then(answerOf)
  }

  async function query(text: string, values: readonly unknown[], deadlineAtMs: number): Promise<QueryResult> {
    const label = "a statement of the handler"
    if (!usable) throw unsent([{ label, text }])
    const sent = client.query({ text, values: [...values], types: pg.types })
    const [result] = await answered([sent], [label], deadlineAtMs)
    return { rows: result?.rows ?? [], rowCount: result?.rowCount ?? 0 }
  }

  return {
    direct,
    plan,
    version,
    usable: () => usable,
    send,
    inOneWrite,
    query,
    isOutside: () => transactionStatus(client) === "I",
    onNotification: (handler) => {
      client.on("notification", ({ channel, payload }) => handler(channel, payload ?? ""))
    },
    onEnd: (handler) => {
      socket.once("close", handler)
    },
    close: async () => {
      usable = false
      const impatience = host.after(1_000, destroy)
      await client.end().catch(() => {})
      impatience.cancel()
      destroy()
    },
    destroy,
  }
}

function answerOf(result: pg.QueryArrayResult): Answer {
  // Several statements in one command give several results. Callers of such commands use no rows.
  if (Array.isArray(result)) return { command: "", columns: [], rows: [] }
  return { command: result.command, columns: result.fields.map((field) => field.name), rows: result.rows }
}

function unsent(commands: readonly Command[]): DatabaseError {
  const statement = commands.at(-1)?.label
  const message = `${statement}: the connection had ended before this was sent.`
  return new DatabaseError("DATABASE_UNAVAILABLE", message, { statement })
}
