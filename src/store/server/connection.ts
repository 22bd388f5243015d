/** One connection to a PostgreSQL server: sends commands in one go, keeps deadlines, dies loudly. */
import { Socket } from "node:net"
import pg from "pg"
import { CarillonError, DatabaseError } from "../../errors.ts"
import type { QueryResult } from "../../job/context.ts"
import type { Host } from "../../runtime/host.ts"
import { deadlineError, translateError } from "../database-error.ts"
import { type FixedPlan, openingFor } from "../statement.ts"
import type { Answer, Command } from "./command.ts"
import { type KnownColumns, sendPrepared } from "./prepared-query.ts"

export interface Connection {
  /**
   * Nothing stands between us and the server. Behind a pooler, named statements, LISTEN and session
   * settings would end up on whatever server connection comes next.
   */
  readonly direct: boolean
  /** What every statement here is planned for without being asked. Without it, nothing is known of the session. */
  readonly plan: FixedPlan | undefined
  /** As the server counts it: 180004 is 18.4. */
  readonly version: number
  readonly usable: () => boolean
  /**
   * Writes all commands at once and waits for all answers: one round trip. Throws the first error; those
   * behind it have then run too, inside a transaction as no-ops. Sends nothing when it is not usable.
   */
  readonly send: (commands: readonly Command[], deadlineAtMs: number) => Promise<Answer[]>
  /** Has all that is sent meanwhile written in one go: each write wakes the server up. */
  readonly inOneWrite: <T>(send: () => T) => T
  /** One statement of the users' own, its values as the driver takes and gives them. */
  readonly query: (text: string, values: readonly unknown[], deadlineAtMs: number) => Promise<QueryResult>
  /** Whether the last answer came from outside of a transaction. */
  readonly isOutside: () => boolean
  readonly onNotification: (handler: (channel: string, payload: string) => void) => void
  /** Calls back once when the connection is gone, for whatever reason. */
  readonly onEnd: (handler: () => void) => void
  /** Says goodbye; gives up on politeness when the server does not answer. */
  readonly close: () => Promise<void>
  readonly destroy: () => void
}

/** Every value stays the text that the server sent; statements know what to make of it. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig

const KEEP_ALIVE_MS = 10_000

/** The server has ended the session, or has lost what we prepared in it. */
const SPENT = /^(08|57P|25P0[34]|26000|42P05)/

/** How instants are written, said before anything is known. Poolers track both, so they hold behind one too. */
const SESSION = "set datestyle = 'ISO, YMD'; set timezone = 'UTC'"

/**
 * Lets the server notice when we have given up on a statement: waiting for a lock, it would otherwise keep its
 * place, and its connection, until it gets the lock. Servers on some platforms cannot and refuse the setting.
 */
const NOTICE_ABSENCE = "set client_connection_check_interval = 1000"

/** Who answers, what it is, and in which encoding the database keeps its texts. */
const WHO =
  "select pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_version_num'), pg_catalog.getdatabaseencoding()"

export interface Dial {
  readonly url: string
  readonly deadlineAtMs: number
  /** All statements will be ours: what to plan for, if nothing stands between us and the server. */
  readonly plan?: FixedPlan
  /** Gives up when it aborts. */
  readonly signal: AbortSignal
}

/** Opens a connection before the deadline, or throws: nothing has been sent that could have an effect. */
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
  // Without a listener the driver's error event would end the process; the queries in flight report it.
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
    const [, who] = await Promise.all([
      client.query(SESSION),
      client.query<string[]>({ text: WHO, rowMode: "array" }),
    ])
    const [pid, versionNumber, encoding = ""] = who.rows[0] ?? []
    const version = Number(versionNumber)
    assertEncoding(encoding)
    // A pooler makes up the process id of the session; only the server itself tells the true one.
    const direct = pid === String(processId(client))
    if (!direct) return wrap(host, { client, socket, direct, plan: undefined, version })
    // The former first: with `exit_on_error` the refusal of the latter would end the session.
    const opening = [openingFor(plan, version), NOTICE_ABSENCE].map((text) => client.query(text))
    await Promise.all([opening[0], opening[1]?.catch(() => {})])
    return wrap(host, { client, socket, direct, plan, version })
  } catch (error) {
    socket.destroy()
    // The driver would only say that the connection ended, which it did because we ended it.
    throw isLate ? new Error("no answer from the server in time", { cause: error }) : error
  } finally {
    timer.cancel()
    signal.removeEventListener("abort", giveUp)
  }
}

/** Other encodings lack characters that may be in any input and in every message of an error. */
export function assertEncoding(encoding: string): void {
  if (encoding === "UTF8") return
  throw new CarillonError(
    "DATABASE_ENCODING",
    `The encoding of the database is ${encoding}, in which Carillon could not keep every text. Use another database on ` +
      "the same server: `create database NAME encoding 'UTF8' template template0`.",
  )
}

function processId(client: pg.Client): number | null {
  return (client as unknown as { processID: number | null }).processID
}

/** As the server says it with every answer: idle, in a transaction, in a failed one. */
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
  // A goodbye of the server comes before the end of the stream; nothing may be sent in between.
  client.on("error", destroy)

  /** Waits for all of them, at most until the deadline; the connection does not survive being late. */
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
  // Several statements in one command give several results; nobody asks for their rows.
  if (Array.isArray(result)) return { command: "", columns: [], rows: [] }
  return { command: result.command, columns: result.fields.map((field) => field.name), rows: result.rows }
}

function unsent(commands: readonly Command[]): DatabaseError {
  const statement = commands.at(-1)?.label
  const message = `${statement}: the connection had ended before this was sent.`
  return new DatabaseError("DATABASE_UNAVAILABLE", message, { statement })
}
